// Builds the page once its data are unpacked.

function showSummary(report) {
  const done = report.all.filter((t) => report.outcome(t) === "done").length;
  const started = report.trials.started.filter((seconds) => seconds !== null);
  const when = started.length ? `; the latest began ${new Date(d3.max(started) * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC` : "";
  const descriptions = report.experiments.map((one) => one.description).filter((text) => text);
  document.getElementById("summary").textContent =
    `${counted(report.experiments.length, "experiment")}, ${counted(report.count, "trial")}, ${done.toLocaleString("en")} done${when}.${descriptions.length ? ` ${descriptions.join(" ")}` : ""}`;
  const nav = document.querySelector("nav");
  for (const section of document.querySelectorAll("section")) nav.append(el("a", { href: `#${section.id}` }, section.querySelector("h2").textContent));
}

function showChoice(report, choice) {
  const bar = document.getElementById("choice");
  const text = el("span");
  bar.append(text, el("button", { click: () => choice.clear() }, "clear"));
  choice.listeners.push(() => {
    bar.hidden = choice.isAll;
    text.textContent = `${choice.count.toLocaleString("en")} of ${counted(report.count, "trial")} chosen`;
  });
}

function showFigures(parent, report, choice, openTrials) {
  const ways = waysToColour(report);
  const look = { way: ways[0], listeners: [] };
  const legend = el("div");
  const setWay = (i) => {
    look.way = ways[i];
    legend.replaceChildren(legendOf(look.way));
    for (const listener of look.listeners) listener();
  };
  parent.append(el("div", { class: "controls" }, select("colour", ways.map((way, i) => [i, way.name]), 0, setWay)), legend);
  setWay(0);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => legend.replaceChildren(legendOf(look.way)));
  const grid = el("div", { class: "figures" });
  parent.append(grid);
  showCurves(grid, report, choice, look, openTrials);
  showCosts(grid, report, choice, look, openTrials);
  showParallel(grid, report, choice, look);
}

async function main() {
  const message = document.getElementById("message");
  try {
    const report = new Report(await unpack(document.getElementById("data").textContent));
    const choice = new Choice(report.count);
    const openTrials = makeDetail(report);
    showSummary(report);
    document.querySelector("main").hidden = false;
    showTables(document.getElementById("tables"), report, openTrials);
    showFigures(document.getElementById("figures"), report, choice, openTrials);
    showTrials(document.getElementById("trials"), report, choice, openTrials);
    showFailures(document.getElementById("failures"), report, openTrials);
    showEnvironments(document.getElementById("environments"), report, openTrials);
    showChoice(report, choice);
    message.hidden = true;
  } catch (error) {
    message.textContent = `The report cannot be shown: ${error.message}`;
    message.className = "wrong";
  }
}

main();
