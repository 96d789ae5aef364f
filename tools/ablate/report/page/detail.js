// The panel that a click on a number opens: the number's trials, and all data of one trial.

/** @return openTrials(title, trials) */
function makeDetail(report) {
  const dialog = document.getElementById("detail");
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  const show = (title, back, ...content) => {
    dialog.replaceChildren(el("div", { class: "head" }, back ? el("button", { click: back }, "← all") : null, el("h2", { id: "detail-title" }, title),
      el("button", { click: () => dialog.close(), "aria-label": "close" }, "✕")), ...content);
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    dialog.querySelector(".head button").focus();
  };
  const openList = (title, trials) => {
    const list = el("div");
    show(`${title} (${counted(trials.length, "trial")})`, null, list);
    const metric = report.mainMetric();
    const columns = [["attempt", true, (t) => report.trials.attempt[t] || null], ["outcome", false, (t) => report.outcome(t)]];
    for (const parameter of report.differing)
      if (new Set(trials.map((t) => report.text(parameter, t))).size > 1) columns.push([parameter.path, Boolean(parameter.numbers), (t) => report.number(parameter, t) ?? report.text(parameter, t)]);
    if (metric) columns.push([withUnit(metric), true, (t) => metric.values[t]]);
    if (trials.some((t) => report.reason(t))) columns.push(["reason", false, (t) => report.reason(t)]);
    makeTable(list, {
      label: "trials of this number", columns: columns.map(([text, number]) => ({ text, number, hidden: false })), count: trials.length, pins: false,
      open: (row) => openTrial(trials[row], () => openList(title, trials)),
      field: (row, c) => { const value = columns[c][2](trials[row]); return { text: brief(value), value }; },
    });
  };
  const openTrial = (t, back) => show(report.label(t), back, ...trialContent(report, t));
  return (title, trials) => (trials.length === 1 ? openTrial(trials[0], null) : openList(title, trials));
}

function rowsTable(rows) {
  return el("table", {}, el("tbody", {}, ...rows.map(([name, ...texts]) => el("tr", {}, el("th", { scope: "row" }, name), ...texts.map((text) => el("td", { class: "wide" }, text))))));
}

function trialContent(report, t) {
  const { trials } = report;
  const when = (seconds) => new Date(seconds * 1000).toISOString().replace("T", " ").slice(0, 19);
  const facts = [["experiment", report.experiment(t)], ["key", trials.key[t]], ["outcome", report.outcome(t)]];
  if (report.reason(t)) facts.push(["reason", report.reason(t)]);
  if (trials.attempt[t]) facts.push(["attempt", String(trials.attempt[t])], ["started", `${when(trials.started[t])} UTC`], ["took", `${brief(trials.wall[t])} s`], ["all of it", `ablate show ${trials.attempt[t]}`]);
  const settings = report.parameters.filter((parameter) => report.value(parameter, t) !== undefined)
    .sort((a, b) => b.differs - a.differs || compare(a.path, b.path)).map((parameter) => [parameter.path, report.text(parameter, t)]);
  const metrics = report.metrics.filter((metric) => metric.values[t] !== null).map((metric) => [withUnit(metric), String(metric.values[t])]);
  const attempts = (report.attemptsOf.get(t) || []).map(([, attempt, outcome, reason, started]) =>
    [String(attempt), report.outcomes[outcome], when(started), reason < 0 ? "" : report.reasons[reason]]);
  const part = (title, ...content) => el("div", {}, el("h3", {}, title), ...content);
  const parts = [part("Trial", rowsTable(facts))];
  if (metrics.length) parts.push(part("Metrics", rowsTable(metrics)));
  if (attempts.length) parts.push(part("Attempts", rowsTable(attempts)));
  for (const curve of report.curvesOf[t]) parts.push(part(withUnit(curve.curves), smallCurve(curve)));
  return [el("div", { class: "pair" }, ...parts), part("Settings", rowsTable(settings))];
}

function smallCurve({ steps, values, curves }) {
  const margin = { left: 50, right: 22, top: 16, bottom: 34 };
  const holder = el("div");
  makeChart(holder, `${curves.metric} over steps`, 180, (context, svg, width, height) => {
    const known = values.filter((value) => value !== null);
    if (!known.length) return;
    const x = scaleOf(steps, [margin.left, width - margin.right], Infinity), y = scaleOf(known, [height - margin.bottom, margin.top]);
    drawAxes(svg, x, y, margin, width, height, "step", "");
    context.lineWidth = 1.5;
    drawLine(context, { steps, values }, x, y, colourOf("--c0"));
  });
  return holder;
}
