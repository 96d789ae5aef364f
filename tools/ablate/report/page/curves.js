// Curves over steps: one for each trial, or the mean of each colour with the range of its trials.

/** Returns the lines to draw: {trial (-1: a mean), group, steps, values, low, high}. */
function linesOf(report, choice, curves, colours, ofMeans) {
  const chosen = d3.range(curves.trial.length).filter((i) => choice.has(curves.trial[i]));
  const line = (i) => ({ trial: curves.trial[i], group: colours.of(curves.trial[i]), steps: curves.steps[curves.of[i]], values: curves.values[i] });
  if (!ofMeans) return chosen.map(line);
  const groups = new Map();  // lines of one colour and the same steps
  for (const i of chosen) {
    const name = `${colours.of(curves.trial[i])} ${curves.of[i]}`;
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(line(i));
  }
  return [...groups.values()].map((lines) => {
    const at = lines[0].steps.map((_, s) => lines.map((one) => one.values[s]).filter((value) => value !== null));
    const none = (f) => at.map((values) => (values.length ? f(values) : null));
    return { trial: -1, group: lines[0].group, steps: lines[0].steps, values: none(d3.mean), low: none(d3.min), high: none(d3.max) };
  });
}

/** Draws a line from point to point; a missing point interrupts it. */
function trace(context, line, values, x, y) {
  let drawing = false;
  values.forEach((value, i) => {
    if (value === null) { drawing = false; return; }
    context[drawing ? "lineTo" : "moveTo"](x(line.steps[i]), y(value));
    drawing = true;
  });
}

function drawLine(context, line, x, y, colour) {
  context.strokeStyle = context.fillStyle = colour;
  if (line.low) {
    context.globalAlpha = 0.15;
    context.beginPath();
    line.steps.forEach((step, i) => line.high[i] !== null && context.lineTo(x(step), y(line.high[i])));
    d3.range(line.steps.length).reverse().forEach((i) => line.low[i] !== null && context.lineTo(x(line.steps[i]), y(line.low[i])));
    context.fill();
    context.globalAlpha = 1;
  }
  context.beginPath();
  trace(context, line, line.values, x, y);
  context.stroke();
}

function showCurves(parent, report, choice, look, openTrials) {
  if (!report.curves.length) return;
  const state = { curves: report.curves[0], means: report.curves[0].trial.length > 60 };
  const figure = el("figure", {}, el("h3", {}, "Curves"));
  const margin = { left: 56, right: 24, top: 22, bottom: 38 };
  let drawn = [], x, y;
  const chart = makeChart(figure, "curves over training steps", 320, (context, svg, width, height) => {
    const lines = linesOf(report, choice, state.curves, look.way, state.means);
    const spread = (line) => [...(line.low || line.values), ...(line.high || [])].filter((value) => value !== null);
    const values = lines.flatMap(spread);
    if (!values.length) { svg.selectAll("*").remove(); drawn = []; return; }
    x = scaleOf(lines.flatMap((line) => [line.steps[0], line.steps[line.steps.length - 1]]), [margin.left, width - margin.right], Infinity);
    y = scaleOf(values, [height - margin.bottom, margin.top]);
    drawAxes(svg, x, y, margin, width, height, "step", withUnit(state.curves));
    const colours = coloursOf(look.way);
    context.lineWidth = state.means ? 2 : lines.length > 200 ? 0.6 : 1.3;
    for (const line of lines) drawLine(context, line, x, y, line.group < 0 ? colourOf("--dim") : colours[line.group]);
    drawn = lines;
  });
  const nearest = (px, py) => {
    let best = -1, least = 12 * 12;
    for (const line of drawn)
      for (let i = 0; line.trial >= 0 && i < line.steps.length; ++i) {
        const dx = x(line.steps[i]) - px, dy = y(line.values[i]) - py;
        if (line.values[i] !== null && dx * dx + dy * dy < least) { least = dx * dx + dy * dy; best = line.trial; }
      }
    return best;
  };
  makePointed(chart, nearest, (t) => report.label(t), openTrials);
  const change = () => chart.redraw();
  figure.prepend(figure.firstChild, el("div", { class: "controls" },
    select("curve", report.curves.map((curves, i) => [i, curves.metric]), 0, (i) => { state.curves = report.curves[i]; change(); }),
    checkbox("mean and range of each colour", state.means, (means) => { state.means = means; change(); })));
  figure.append(el("figcaption", {}, `Thinned to at most ${report.points} points each.`));
  parent.append(figure);
  choice.listeners.push(change);
  look.listeners.push(change);
}
