// A chart: marks on a canvas, because there may be 10,000 of them, and axes over it in SVG.

/**
 * @param draw(context, svg, width, height, onlyMarks) draws everything; with onlyMarks the SVG may stay unchanged
 * @return {frame, redraw, remark: draws the marks alone, least: smallest width}
 */
function makeChart(parent, label, height, draw) {
  const canvas = el("canvas", { role: "img", "aria-label": label });
  const frame = el("div", { class: "chart" }, canvas);
  const plot = el("div", { class: "plot" }, frame);
  parent.append(plot);
  const svg = d3.select(frame).append("svg");
  const chart = { frame, canvas, svg, least: 0 };
  let asked = false, onlyMarks = true;
  const render = () => {
    const marks = onlyMarks;
    asked = false;
    onlyMarks = true;
    const width = Math.max(chart.least, Math.floor(plot.clientWidth));
    if (plot.clientWidth === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    for (const one of [frame, canvas]) Object.assign(one.style, { width: `${width}px`, height: `${height}px` });
    svg.attr("width", width).attr("height", height);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    draw(context, svg, width, height, marks);
  };
  chart.remark = () => {
    if (!asked) requestAnimationFrame(render);
    asked = true;
  };
  chart.redraw = () => {
    onlyMarks = false;
    chart.remark();
  };
  new ResizeObserver(chart.redraw).observe(plot);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", chart.redraw);
  return chart;
}

/** Returns a scale over values, logarithmic if all are above 0 and the largest is at least `far` times the smallest. */
function scaleOf(values, range, far = 50) {
  const [low, high] = d3.extent(values);
  const scale = low > 0 && high / low >= far ? d3.scaleLog() : d3.scaleLinear();
  return scale.domain(low === high ? [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2] : [low, high]).range(range).nice();
}

/** Sets the ticks of an axis; a logarithmic axis shows only the ticks that fit. */
function ticksOf(axis, scale, count) {
  const isLog = scale.base !== undefined;
  return isLog ? axis.ticks(count, "~g") : axis.ticks(count, "~g").tickFormat(brief);
}

function drawAxes(svg, x, y, margin, width, height, xText, yText) {
  svg.selectAll("*").remove();
  svg.attr("aria-hidden", "true");
  svg.append("g").attr("transform", `translate(0,${height - margin.bottom})`).call(ticksOf(d3.axisBottom(x), x, Math.max(2, width / 110)).tickSizeOuter(0));
  svg.append("g").attr("transform", `translate(${margin.left},0)`).call(ticksOf(d3.axisLeft(y), y, Math.max(2, height / 60)).tickSizeOuter(0));
  svg.append("text").attr("x", width - margin.right).attr("y", height - 6).attr("text-anchor", "end").text(xText);
  svg.append("text").attr("x", 4).attr("y", 12).text(yText);
}

/** Shows the trial nearest to the pointer, and opens it on a click. @param nearest(x, y) -> a trial, or -1 */
function makePointed(chart, nearest, textOf, openTrials) {
  const at = (event) => {
    const box = chart.frame.getBoundingClientRect();
    return nearest(event.clientX - box.left, event.clientY - box.top);
  };
  chart.frame.addEventListener("pointermove", (event) => {
    const trial = at(event);
    chart.frame.style.cursor = trial >= 0 ? "pointer" : "";
    tip(event, trial >= 0 ? textOf(trial) : "");
  });
  chart.frame.addEventListener("pointerleave", (event) => tip(event, ""));
  chart.frame.addEventListener("click", (event) => {
    const trial = at(event);
    if (trial >= 0) openTrials("", [trial]);
  });
}
