// The study's tables, and the trials one by one.

/** Returns the value that a table's field is sorted by: the cell's number, else the number at the start of its text. */
function sortValue(table, field, isNumber) {
  if (!isNumber) return field.text.trim() === "" || Number.isNaN(Number(field.text)) ? field.text : Number(field.text);
  if (field.main) return table.cells[field.cell].value;
  const number = Number.parseFloat(field.text.replace("~", ""));
  return Number.isNaN(number) ? null : number;
}

function showTables(parent, report, openTrials) {
  for (const table of report.tables) {
    const experiment = table.experiments.map((one) => report.experiments[one].name).join(", ");
    parent.append(el("h3", {}, table.name ? `${experiment}: ${table.name}` : experiment));
    if (table.failed !== undefined) {
      parent.append(el("p", { class: "wrong" }, `This table cannot be made: ${table.failed}`));
      continue;
    }
    parent.append(el("p", { class: "faint" }, table.caption));
    for (const block of table.blocks) {
      if (block.title) parent.append(el("h3", {}, block.title));
      for (const row of block.rows) markMain(row);
      makeTable(parent, {
        label: `${experiment} ${table.name} ${block.title}`.trim(), columns: block.header.map((h) => ({ text: h.text, number: h.number, hidden: false })),
        count: block.rows.length, pins: true,
        field: (row, c) => {
          const field = block.rows[row][c];
          const trials = field.cell === undefined ? [] : table.cells[field.cell].trials;
          const labels = block.rows[row].filter((_, i) => !block.header[i].number).map((label) => label.text).join(" ");
          return { ...field, value: sortValue(table, field, block.header[c].number),
            open: trials.length ? () => openTrials(`${labels}: ${block.header[c].text}`, trials) : null };
        },
      });
    }
    if (table.notes.length) parent.append(el("ul", { class: "notes" }, ...table.notes.map((note) => el("li", {}, note))));
  }
}

/** Marks the first field of each cell, which is its number. A cell also has fields for a difference and p. */
function markMain(row) {
  let last;
  for (const field of row) {
    field.main = field.cell !== undefined && field.cell !== last;
    last = field.cell;
  }
}

function showTrials(parent, report, choice, openTrials) {
  const kShownMetrics = 6;
  const fields = [];
  const add = (text, number, hidden, get) => fields.push({ text, number, hidden, get });
  if (report.experiments.length > 1) add("experiment", false, false, (t) => report.experiment(t));
  add("attempt", true, false, (t) => report.trials.attempt[t] || null);
  add("outcome", false, false, (t) => report.outcome(t));
  for (const parameter of report.differing)
    add(parameter.path, Boolean(parameter.numbers), false, (t) => report.number(parameter, t) ?? report.text(parameter, t));
  const texts = new Map(report.differing.map((parameter) => [parameter.path, (t) => report.text(parameter, t)]));
  const main = report.mainMetric();
  [...report.metrics].sort((a, b) => (b === main) - (a === main)).forEach((metric, i) =>
    add(withUnit(metric), true, i >= kShownMetrics, (t) => metric.values[t]));
  add("seconds", true, true, (t) => report.trials.wall[t]);
  add("reason", false, !report.all.some((t) => report.reason(t)), (t) => report.reason(t));
  add("key", false, true, (t) => report.trials.key[t]);
  parent.append(el("p", { class: "faint" }, "Every trial of the latest grids, by its latest attempt that is done, else its latest. Brushes above choose among them."));
  const table = makeTable(parent, {
    label: "trials", columns: fields, count: report.count, has: (t) => choice.has(t), pins: true, open: (t) => openTrials("", [t]),
    field: (t, c) => {
      const value = fields[c].get(t);
      const text = texts.has(fields[c].text) ? texts.get(fields[c].text)(t) : fields[c].text === "attempt" ? String(value ?? "") : brief(value);
      return { text, value };
    },
  });
  choice.listeners.push(table.refresh);
}
