// Environments of the trials: first the differences between them, then each in full.

/** Returns the fields and sections of an environment as [path, text]. */
function flat(value, path = "") {
  if (value === null || typeof value !== "object") return [[path, String(value)]];
  if (Array.isArray(value)) return [[path, value.map((one) => (typeof one === "object" ? JSON.stringify(one) : String(one))).join(", ") || "none"]];
  return Object.entries(value).flatMap(([name, inner]) => flat(inner, path ? `${path}.${name}` : name));
}

function showEnvironments(parent, report, openTrials) {
  const trials = report.environments.map(() => []);
  for (const t of report.all) if (report.trials.environment[t] >= 0) trials[report.trials.environment[t]].push(t);
  const fields = report.environments.map((environment) => new Map(flat(environment)));
  const names = [...new Set(fields.flatMap((one) => [...one.keys()]))].sort();
  const differ = names.filter((name) => new Set(fields.map((one) => one.get(name))).size > 1);
  const same = names.filter((name) => !differ.includes(name));
  const kMost = 100;
  if (!fields.length) {
    parent.append(el("p", {}, "No trial has run yet."));
    return;
  }
  const head = el("tr", {}, el("th", { scope: "col", class: "n" }, "trials"), ...(differ.length ? differ : ["environment"]).map((name) => el("th", { scope: "col" }, name)));
  const rows = fields.slice(0, kMost).map((one, i) => el("tr", {}, el("td", { class: "n" }, el("button", {
    class: "number", click: () => openTrials(`environment ${i + 1}`, trials[i]),
  }, trials[i].length.toLocaleString("en"))), ...(differ.length ? differ.map((name) => el("td", { title: one.get(name) || null }, one.get(name) ?? "-")) : [el("td", {}, "the same for all")])));
  parent.append(el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "environments" }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...rows))));
  if (fields.length > kMost) parent.append(el("p", { class: "faint" }, `${fields.length - kMost} more environments are not listed.`));
  if (same.length) parent.append(el("details", {}, el("summary", {}, `${counted(same.length, "field")} ${fields.length > 1 ? "that all share" : "of it"}`),
    el("table", {}, el("tbody", {}, ...same.map((name) => el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "wide" }, fields[0].get(name))))))));
}
