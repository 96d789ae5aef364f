// Axes of parallel coordinates: a parameter's values or a metric's numbers, from bottom to top.

/** Returns all possible axes: {name, number(trial) (null: axis of texts), text(trial), values: values to mark, if they are few}. */
function axesOf(report) {
  const parameters = report.differing.map((parameter) => {
    const isNumber = Boolean(parameter.numbers) && parameter.values.length > 2;
    return {
      name: parameter.path, isParameter: true, values: isNumber && parameter.numbers.length <= 8 ? parameter.numbers : null,
      number: isNumber ? (t) => report.number(parameter, t) : null,
      text: (t) => report.text(parameter, t),
    };
  });
  const metrics = report.metrics.map((metric) => ({ name: withUnit(metric), metric, number: (t) => report.measured(metric, t), text: (t) => brief(metric.values[t]) }));
  if (report.experiments.length > 1) parameters.unshift({ name: "experiment", isParameter: true, number: null, text: (t) => report.experiment(t) });
  return [...parameters, { name: "outcome", isParameter: false, number: null, text: (t) => report.outcome(t) }, ...metrics];
}

/** Returns the axes shown at first: varied parameters except seeds, the main metric and its cost. */
function firstAxes(report, axes) {
  const kMost = 10;
  const parameters = axes.filter((axis) => axis.isParameter && axis.name !== "seed").slice(0, kMost - 2);
  const measured = axes.filter((axis) => axis.metric && (axis.metric === report.mainMetric() || axis.metric === report.mainCost()));
  return [...parameters, ...measured];
}

/** Sets an axis's scale, and `at(trial)`: the position of its line. A trial without a value crosses below all others. */
function placeAxis(axis, report, top, bottom) {
  const kBelow = 16;
  if (axis.number) {
    const values = report.all.map(axis.number).filter((value) => value !== null);
    axis.scale = scaleOf(values.length ? values : [0, 1], [bottom - kBelow, top], 20);
    axis.at = (t) => (axis.number(t) === null ? bottom : axis.scale(axis.number(t)));
    const ticks = axis.values || axis.scale.ticks(5).filter((_, i, all) => all.length <= 8 || i % Math.ceil(all.length / 8) === 0);
    axis.ticks = ticks.map((value) => [axis.scale(value), brief(value)]);
    if (values.length < report.count) axis.ticks.push([bottom, "-"]);
  } else {
    const texts = [...new Set(report.all.map(axis.text))].sort((a, b) => compare(a, b, false));
    axis.scale = d3.scalePoint().domain(texts.reverse()).range([top, bottom]).padding(0.5);
    axis.at = (t) => axis.scale(axis.text(t));
    const every = Math.ceil(texts.length / 18);
    axis.ticks = texts.filter((_, i) => i % every === 0).map((text) => [axis.scale(text), text]);
  }
  axis.places = Float32Array.from(report.all, axis.at);
}
