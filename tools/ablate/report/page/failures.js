// Trials that are not done, by outcome and reason.
function showFailures(parent, report, openTrials) {
  const groups = new Map();
  for (const t of report.all) {
    if (report.outcome(t) === "done") continue;
    const name = JSON.stringify([report.outcome(t), report.reasonGroup(t)]);
    if (!groups.has(name)) groups.set(name, { outcome: report.outcome(t), reason: report.reason(t), trials: [] });
    const group = groups.get(name);
    if (group.reason !== report.reason(t)) group.reason = report.reasonGroup(t);
    group.trials.push(t);
  }
  const all = [...groups.values()].sort((a, b) => b.trials.length - a.trials.length);
  if (!all.length) {
    parent.append(el("p", {}, "All trials are done."));
    return;
  }
  const most = all[0].trials.length;
  const kMost = 200;  // different reasons; the rest is in the list of trials
  const rows = all.slice(0, kMost).map((group) => {
    const bar = el("span", { class: "bar" });
    bar.style.width = `${Math.max(1, 100 * group.trials.length / most)}px`;
    const reason = group.reason || (group.outcome === "missing" ? "has not run yet" : "-");
    return el("tr", {}, el("td", {}, group.outcome), el("td", { class: "n" }, el("button", {
      class: "number", click: () => openTrials(`${group.outcome}: ${reason}`, group.trials),
    }, group.trials.length.toLocaleString("en"))), el("td", {}, bar), el("td", { class: "wide" }, reason));
  });
  parent.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "failures by reason" }, el("table", {}, el("thead", {}, el("tr", {},
    el("th", { scope: "col" }, "outcome"), el("th", { scope: "col", class: "n" }, "trials"), el("th", { "aria-label": "share" }), el("th", { scope: "col" }, "reason"))), el("tbody", {}, ...rows))));
  if (all.length > kMost) parent.append(el("p", { class: "faint" }, `${all.length - kMost} rarer reasons are in the list of trials.`));
}
