// A metric against its cost, with the front: trials that no other trial beats in both.

/** Returns the points that no other beats in both. @param xBetter, yBetter 1 if more is better, -1 if less is */
function frontOf(points, xBetter, yBetter) {
  const order = [...points].sort((a, b) => xBetter * (b.x - a.x) || yBetter * (b.y - a.y));
  let best = -Infinity;
  return order.filter((point) => {
    if (yBetter * point.y <= best) return false;
    best = yBetter * point.y;
    return true;
  });
}

function showCosts(parent, report, choice, look, openTrials) {
  const state = { x: report.mainCost(), y: report.mainMetric() };
  if (!state.x || !state.y || report.metrics.length < 2) return;
  if (state.x === state.y) state.y = report.metrics.find((metric) => metric !== state.x);
  const figure = el("figure", {}, el("h3", {}, "Metric against cost"));
  const margin = { left: 56, right: 24, top: 22, bottom: 38 };
  let points = [];
  const chart = makeChart(figure, "a metric of each trial against its cost", 320, (context, svg, width, height) => {
    points = report.all.map((trial) => ({ trial, x: report.measured(state.x, trial), y: report.measured(state.y, trial) })).filter((point) => point.x !== null && point.y !== null);
    if (!points.length) { svg.selectAll("*").remove(); return; }
    const x = scaleOf(points.map((point) => point.x), [margin.left, width - margin.right]);
    const y = scaleOf(points.map((point) => point.y), [height - margin.bottom, margin.top]);
    drawAxes(svg, x, y, margin, width, height, withUnit(state.x), withUnit(state.y));
    for (const point of points) Object.assign(point, { px: x(point.x), py: y(point.y) });
    const chosen = points.filter((point) => choice.has(point.trial));
    const better = (metric) => (metric.direction === "max" ? 1 : -1);
    const front = frontOf(chosen, better(state.x), better(state.y));
    context.strokeStyle = colourOf("--faint");
    context.setLineDash([4, 3]);
    context.beginPath();
    for (const point of front) context.lineTo(point.px, point.py);
    context.stroke();
    context.setLineDash([]);
    const colours = coloursOf(look.way), radius = points.length > 1000 ? 2 : 4;
    context.globalAlpha = points.length > 1000 ? 0.6 : 0.9;
    const dots = (list, colour) => list.forEach((point) => {
      context.fillStyle = colour(point);
      context.beginPath();
      context.arc(point.px, point.py, radius, 0, 2 * Math.PI);
      context.fill();
    });
    dots(points.filter((point) => !choice.has(point.trial)), () => colourOf("--dim"));
    dots(chosen, (point) => colours[look.way.of(point.trial)] || colourOf("--dim"));
    points = chosen;
  });
  const nearest = (px, py) => {
    const at = d3.quadtree(points, (point) => point.px, (point) => point.py).find(px, py, 14);
    return at ? at.trial : -1;
  };
  const textOf = (t) => `${report.label(t)}\n${withUnit(state.y)}: ${brief(report.measured(state.y, t))}\n${withUnit(state.x)}: ${brief(report.measured(state.x, t))}`;
  makePointed(chart, nearest, textOf, openTrials);
  const names = report.metrics.map((metric, i) => [i, withUnit(metric)]);
  const choose = (axis) => (i) => { state[axis] = report.metrics[i]; chart.redraw(); };
  figure.prepend(figure.firstChild, el("div", { class: "controls" },
    select("metric", names, report.metrics.indexOf(state.y), choose("y")), select("against", names, report.metrics.indexOf(state.x), choose("x"))));
  figure.append(el("figcaption", {}, "Each dot is a trial. Dashed: the front, whose trials no other trial beats in both."));
  parent.append(figure);
  choice.listeners.push(() => chart.redraw());
  look.listeners.push(() => chart.redraw());
}
