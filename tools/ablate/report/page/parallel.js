// Parallel coordinates: a line for each trial through all varied axes. A brush is a selected range of an axis. A trial is
// chosen if its line passes through all brushes. Keys move a brush, too.

function showParallel(parent, report, choice, look) {
  const axes = axesOf(report);
  const state = { shown: firstAxes(report, axes), brushes: new Map() };
  if (report.count < 2 || axes.length < 2) return;
  const margin = { top: 46, bottom: 14 }, height = 380, left = 96, right = 64, least = 112;
  const mixed = d3.shuffle([...report.all]);  // drawn in random order, so that no colour hides all others
  const figure = el("figure", { class: "whole", id: "parallel" }, el("h3", {}, "What differs"));
  const boxes = el("div");
  const clear = el("button", { click: () => { state.brushes.clear(); chart.redraw(); choose(); } }, "clear brushes");
  figure.append(el("div", { class: "controls" }, el("details", { class: "columns" }, el("summary", {}, "axes"), boxes), clear));

  const chart = makeChart(figure, "parallel coordinates of the trials", height, (context, svg, width, unused, onlyMarks) => {
    const x = d3.scalePoint().domain(d3.range(state.shown.length)).range([left, width - right]);
    if (!onlyMarks) for (const axis of state.shown) placeAxis(axis, report, margin.top, height - margin.bottom);
    paint(context, x);
    if (!onlyMarks) drawAxisGroups(svg, x);  // redrawing would remove an axis while its brush moves
    svg.selectAll(".axis").data(state.shown).attr("aria-valuetext", brushText);
  });
  chart.svg.attr("role", "group").attr("aria-label", "axes: brush them");

  function paint(context, x) {
    const colours = coloursOf(look.way), dim = colourOf("--dim");
    const lines = (trials, colour) => {
      for (const trial of trials) {
        context.strokeStyle = colour(trial);
        context.beginPath();
        state.shown.forEach((axis, i) => context.lineTo(x(i), axis.places[trial]));
        context.stroke();
      }
    };
    context.lineWidth = report.count > 1000 ? 0.5 : 1.2;
    context.globalAlpha = 0.35;
    if (!choice.isAll) lines(mixed.filter((t) => !choice.has(t)), () => dim);
    context.globalAlpha = Math.max(0.08, Math.min(0.85, 120 / Math.sqrt(1 + choice.count * 20)));
    lines(mixed.filter((t) => choice.has(t)), (t) => colours[look.way.of(t)] || dim);
    context.globalAlpha = 1;
  }

  function drawAxisGroups(svg, x) {
    svg.selectAll("*").remove();
    state.shown.forEach((axis, i) => {
      const group = svg.append("g").attr("class", "axis").attr("transform", `translate(${x(i)},0)`).attr("tabindex", 0).attr("role", "slider")
        .attr("aria-label", axis.name).attr("aria-orientation", "vertical").attr("aria-valuenow", 0)
        .on("keydown", () => moveByKey(axis));
      group.append("line").attr("class", "domain").attr("y1", margin.top).attr("y2", height - margin.bottom);
      for (const [y, text] of axis.ticks) {
        group.append("line").attr("x1", -4).attr("x2", 0).attr("y1", y).attr("y2", y);
        group.append("text").attr("x", -7).attr("y", y).attr("dy", "0.32em").attr("text-anchor", "end").text(cut(text, 12)).append("title").text(text);
      }
      group.append("text").attr("class", "name").attr("y", i % 2 ? 30 : 14).attr("text-anchor", "middle").text(cut(axis.name, 22)).append("title").text(axis.name);
      const brush = d3.brushY().extent([[-14, margin.top - 6], [14, height - margin.bottom + 6]]).on("brush end", () => {
        if (d3.event.sourceEvent) setBrush(axis, d3.event.selection);  // not when the brush is restored below
      });
      const place = group.append("g").attr("class", "brush").call(brush);
      if (state.brushes.has(axis)) place.call(brush.move, state.brushes.get(axis));
      axis.move = (range) => place.call(brush.move, range);
    });
  }

  const cut = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const brushText = (axis) => (state.brushes.has(axis) ? `${counted(choice.count, "trial")} chosen` : "no brush; arrow keys make a brush and move it, with Shift they widen it, Escape removes it");

  function setBrush(axis, range) {
    if (range) state.brushes.set(axis, range);
    else state.brushes.delete(axis);
    choose();
  }

  function moveByKey(axis) {
    const { key, shiftKey } = d3.event;
    const [top, bottom] = [margin.top - 6, height - margin.bottom + 6];
    const [low, high] = state.brushes.get(axis) || [(top + bottom) / 2, bottom];
    const by = (bottom - top) / 20 * (key === "ArrowUp" ? -1 : 1);
    const within = (y) => Math.max(top, Math.min(bottom, y));
    if (key === "Escape") axis.move(null);
    else if (key === "ArrowUp" || key === "ArrowDown")
      axis.move(shiftKey ? [within(low - Math.abs(by)), within(high + Math.abs(by))] : [within(low + by), within(high + by)]);
    else return;
    d3.event.preventDefault();
  }

  let waiting = false;
  function choose() {  // redraws at most once in each frame, however fast a brush moves
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      const mask = new Uint8Array(report.count).fill(1);
      for (const [axis, [low, high]] of state.brushes)
        for (let t = 0; t < mask.length; ++t) if (axis.places[t] < low || axis.places[t] > high) mask[t] = 0;
      choice.set(mask);
    });
  }

  function fit() {
    chart.least = left + right + least * (state.shown.length - 1);
    chart.redraw();
  }
  axes.forEach((axis) => boxes.append(checkbox(axis.name, state.shown.includes(axis), (shown) => {
    state.shown = axes.filter((one) => (one === axis ? shown : state.shown.includes(one)));
    if (!shown && state.brushes.delete(axis)) choose();
    fit();
  })));
  figure.append(el("figcaption", {}, "A line a trial. Drag along an axis, or go to it by Tab and press the arrow keys, to choose the trials of all figures and of the list below."));
  parent.append(figure);
  fit();
  choice.clear = () => clear.click();
  choice.listeners.push(() => chart.remark());
  look.listeners.push(() => chart.remark());
}
