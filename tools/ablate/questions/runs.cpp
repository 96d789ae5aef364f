#include <fmt/format.h>

#include <memory>

#include "core/util/plain_json.h"
#include "db/questions/history.h"
#include "db/report/format.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

std::string as_text(const db::Runs& runs) {
  std::vector<std::vector<std::string>> rows = {{"run", "experiment", "trial", "outcome", "", "wall", "when"}};
  if (runs.metric)
    rows[0][4] = runs.metric->unit.empty() ? runs.metric->name : fmt::format("{} ({})", runs.metric->name, runs.metric->unit);
  const auto add = [&](const db::RunLine& line, std::string outcome, const std::string& value) {
    const auto experiments = line.experiments + (line.latest_grid ? "" : " (earlier grid)");
    rows.push_back({line.run > 0 ? std::to_string(line.run) : "", experiments,
                    line.label.empty() ? line.key.substr(0, 12) : line.label, std::move(outcome), value,
                    db::duration_text(line.wall_s), db::time_text(line.started_us)});
  };
  for (const auto& line : runs.running) {
    std::string outcome = "running";
    if (!line.host.empty()) outcome += fmt::format(" on {}, not seen from here", line.host);
    if (line.steps > 0) outcome += fmt::format(", step {}/{}", line.step, line.steps);
    if (line.value) outcome += ", loss " + db::brief(*line.value);
    add(line, outcome, "");
  }
  for (const auto& line : runs.lines) {
    auto outcome = line.outcome;
    if (outcome == "failed" && !line.reason.empty()) outcome += ": " + db::first_line(line.reason);
    add(line, outcome, line.value ? db::brief(*line.value) : "");
  }
  auto text = db::render_text(rows);
  if (static_cast<std::int64_t>(runs.lines.size()) < runs.total)
    text += fmt::format("\nthe latest {} of {}; -n 0 shows all\n", runs.lines.size(), runs.total);
  return text;
}

std::string as_json(const db::Runs& runs) {
  using nlohmann::ordered_json;
  auto all = ordered_json::array();
  const auto known = [](std::int64_t number) { return number > 0 ? ordered_json(number) : ordered_json(nullptr); };
  for (const auto* lines : {&runs.running, &runs.lines})
    for (const auto& line : *lines) {
      const bool running = lines == &runs.running;
      ordered_json run = {{"run", known(line.run)},     {"experiments", line.experiments}, {"key", line.key},
                          {"label", line.label},        {"outcome", line.outcome},         {"reason", line.reason},
                          {"wall_s", line.wall_s},      {"started_us", line.started_us},   {"step", known(line.step)},
                          {"steps", known(line.steps)}, {"latest_grid", line.latest_grid}};
      if (running) run["elsewhere"] = line.host.empty() ? ordered_json(nullptr) : ordered_json(line.host);
      const std::string metric = running ? "train/loss" : runs.metric ? runs.metric->name : "";
      run["metric"] = metric.empty() ? ordered_json(nullptr) : ordered_json(metric);
      run["value"] = line.value ? ordered_json(*line.value) : ordered_json(nullptr);
      all.push_back(run);
    }
  return plain_json(all, 2) + "\n";
}

/// "" for a number of runs; else what is wrong.
std::string refuse_count(const std::string& text) {
  const bool digits = !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : fmt::format("found {}, expected how many runs to show, such as 20, or 0 for all", text);
}

}  // namespace

void add_runs(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    db::RunsRequest request;
    bool json = false;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("runs", "What is running now, and the latest runs, one line each");
  command->group(kQuestions);
  command->add_option("experiment", arguments->request.experiment, "only this experiment's; default: all")
      ->type_name("EXPERIMENT")
      ->check(not_empty());
  command->add_flag("--failed", arguments->request.failed, "only runs that failed, timed out or were interrupted");
  command->add_option("-n", arguments->request.most, "how many, latest first; 0: all; default: 20")
      ->type_name("N")
      ->check(CLI::Validator(refuse_count, "", ""));
  command->add_flag("--json", arguments->json, "as JSON");
  command->footer("`ablate show RUN` tells everything about one.\nExample:\n  ablate runs quickstart -n 5");
  command->callback([arguments, database, &exit_code] {
    const db::Reader reader(database());
    const auto runs = db::list_runs(reader, arguments->request);
    print("{}", arguments->json ? as_json(runs) : as_text(runs));
    exit_code = 0;
  });
}

}  // namespace ablate
