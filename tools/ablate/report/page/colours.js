// Colours of trials, the same in all figures: eight that the colour-blind can distinguish, or a scale for more groups.

const kColours = 8;

/** Returns all colourings: {name, of(trial) -> its group or -1, groups: [texts], numbers: a number for each group, or null}. */
function waysToColour(report) {
  const ways = [];
  const byRow = rowsOfTable(report);
  if (byRow) ways.push(byRow);
  const add = (name, groups, of, numbers) => {
    if (groups.length > 1) ways.push({ name, groups, of, numbers });
  };
  for (const parameter of report.differing) {
    const absent = report.all.some((t) => report.place(parameter, t) < 0);
    const order = d3.range(parameter.values.length).sort((a, b) => (parameter.numbers ? parameter.numbers[a] - parameter.numbers[b] : compare(parameter.values[a], parameter.values[b])));
    const groupOf = order.reduce((all, place, group) => { all[place] = group; return all; }, []);
    add(parameter.path, [...order.map((place) => String(parameter.values[place])), ...(absent ? ["-"] : [])],
      (t) => (report.place(parameter, t) < 0 ? order.length : groupOf[report.place(parameter, t)]),
      parameter.numbers && !absent ? order.map((place) => parameter.numbers[place]) : null);
  }
  if (report.experiments.length > 1) add("experiment", report.experiments.map((one) => one.name), (t) => report.trials.experiment[t], null);
  add("outcome", report.outcomes, (t) => report.trials.outcome[t], null);
  return ways.length ? ways : [{ name: "nothing", groups: ["all trials"], of: () => 0, numbers: null }];
}

/** Returns the rows of the first table as a colouring, if they are few. */
function rowsOfTable(report) {
  const table = report.tables.find((one) => one.blocks && one.blocks[0].rows.length > 1);
  if (!table || table.blocks[0].rows.length >= kColours) return null;
  const block = table.blocks[0];
  const of = new Int32Array(report.count).fill(-1);
  const groups = block.rows.map((row, group) => {
    for (const field of row) if (field.cell !== undefined) for (const t of table.cells[field.cell].trials) of[t] = group;
    return row.filter((_, c) => !block.header[c].number).map((field) => field.text).filter((text) => text !== "-").join(" ");
  });
  if (of.includes(-1)) groups.push("(no row of it)");
  return { name: "row of the table", groups, of: (t) => (of[t] < 0 ? block.rows.length : of[t]), numbers: null };
}

/** Returns the colours of a colouring's groups in the current light or dark scheme. */
function coloursOf(way) {
  if (way.groups.length <= kColours) return way.groups.map((_, group) => colourOf(`--c${group}`));
  const size = way.numbers ? d3.extent(way.numbers) : [0, way.groups.length - 1];
  const scale = (way.numbers && size[0] > 0 && size[1] / size[0] >= 100 ? d3.scaleSequentialLog : d3.scaleSequential)(d3.interpolateTurbo).domain(size);
  return way.groups.map((_, group) => scale(way.numbers ? way.numbers[group] : group));
}

function legendOf(way) {
  const colours = coloursOf(way);
  const shown = way.groups.length <= kColours ? d3.range(way.groups.length) : d3.range(kColours).map((i) => Math.round(i * (way.groups.length - 1) / (kColours - 1)));
  return el("ul", { class: "legend" }, ...shown.map((group) => {
    const swatch = el("span", { class: "swatch" });
    swatch.style.background = colours[group];
    return el("li", {}, swatch, way.groups[group] || "-");
  }));
}
