#include <fmt/format.h>

#include <memory>

#include "core/records/outcome.h"
#include "core/util/plain_json.h"
#include "core/util/sha256.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/report/format.h"
#include "db/report/named_rows.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/output_format.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

std::string named(const MetricInfo& metric) {
  return metric.unit.empty() ? metric.name : fmt::format("{} ({})", metric.name, metric.unit);
}

std::string as_text(const db::AttemptList& list) {
  std::vector<std::vector<std::string>> rows = {{"attempt", "experiment", "trial", "outcome", "", "wall", "when"}};
  // A single metric is in the header; several metrics are named in each line.
  const bool one = list.metrics.size() == 1;
  if (one) rows[0][4] = named(list.metrics[0]);
  const auto add = [&](const db::AttemptLine& line, std::string outcome, const std::string& value) {
    const auto experiments = line.experiments + (line.latest_grid ? "" : " (earlier grid)");
    rows.push_back({line.attempt > 0 ? std::to_string(line.attempt) : "", experiments,
                    line.label.empty() ? short_digest(line.key) : line.label, std::move(outcome), value,
                    db::duration_text(line.wall_s), db::time_text(line.started_us)});
  };
  for (const auto& line : list.running) {
    std::string outcome = "running";
    if (!line.host.empty()) outcome += fmt::format(" on {}, not visible from this host", line.host);
    if (line.steps > 0) outcome += fmt::format(", step {}/{}", line.step, line.steps);
    if (line.value) outcome += ", loss " + db::brief(*line.value);
    add(line, outcome, "");
  }
  for (const auto& line : list.lines) {
    auto outcome = line.outcome;
    // "interrupted by the user" needs no outcome before it.
    if (const auto why = db::first_line(line.reason); outcome != outcome::kDone && !why.empty())
      outcome = why.starts_with(outcome) ? why : outcome + ": " + why;
    if (line.unlike != 0) outcome += fmt::format(", other numbers than attempt {}", line.unlike);
    add(line, outcome, line.value ? db::brief(*line.value) + (one ? "" : " " + line.metric) : "");
  }
  auto text = db::render_text(rows);
  if (static_cast<std::int64_t>(list.lines.size()) < list.total)
    text += fmt::format("\nthe latest {} of {}; -n 0 shows all\n", list.lines.size(), list.total);
  return text;
}

std::string as_json(const db::AttemptList& list) {
  using nlohmann::ordered_json;
  auto all = ordered_json::array();
  const auto known = [](std::int64_t number) { return number > 0 ? ordered_json(number) : ordered_json(nullptr); };
  for (const auto* lines : {&list.running, &list.lines})
    for (const auto& line : *lines) {
      const bool running = lines == &list.running;
      ordered_json attempt = {{"attempt", known(line.attempt)},
                              {"experiments", line.experiments},
                              {"key", line.key},
                              {"label", line.label},
                              {"outcome", line.outcome},
                              {"reason", line.reason},
                              {"wall_s", line.wall_s},
                              {"started_us", line.started_us},
                              {"step", known(line.step)},
                              {"steps", known(line.steps)},
                              {"latest_grid", line.latest_grid}};
      if (line.unlike != 0) attempt["unlike"] = line.unlike;
      if (running) attempt["elsewhere"] = line.host.empty() ? ordered_json(nullptr) : ordered_json(line.host);
      attempt["metric"] = line.metric.empty() ? ordered_json(nullptr) : ordered_json(line.metric);
      attempt["value"] = line.value ? db::json_number<ordered_json>(*line.value) : ordered_json(nullptr);
      all.push_back(attempt);
    }
  return plain_json(all, 2) + "\n";
}

/// Returns "" for a number of attempts, else the error.
std::string refuse_count(const std::string& text) {
  const bool digits = !text.empty() && text.size() < 18 && text.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : fmt::format("found {}, expected a number of attempts to show, such as 20, or 0 for all", text);
}

}  // namespace

void add_attempts(CLI::App& app, const DatabaseFile& database, int& exit_code) {
  struct Arguments {
    db::AttemptsRequest request;
    db::Format format = db::Format::kText;
  };
  const auto arguments = std::make_shared<Arguments>();
  auto* command = app.add_subcommand("attempts", "List the running trials and the latest attempts, a line each");
  command->group(kQuestions);
  command->add_option("EXPERIMENT", arguments->request.experiment, "only attempts of this experiment; default: all")
      ->type_name("")
      ->check(not_empty());
  command->add_flag("--failed", arguments->request.failed, "only attempts with another outcome than done");
  command->add_option("-n", arguments->request.most, "number of attempts, latest first; 0: all; default: 20")
      ->type_name("N")
      ->check(CLI::Validator(refuse_count, "", ""));
  add_format(command, arguments->format, {"text", "json"}, "text or json; default: text");
  command->footer("`ablate show ATTEMPT` shows all about an attempt.\nExample:\n  ablate attempts quickstart -n 5");
  command->callback([arguments, database, &exit_code] {
    const db::Reader reader(database());
    const auto list = db::list_attempts(reader, arguments->request);
    const bool none_failed = list.none_yet.empty() && arguments->request.failed && list.lines.empty() && list.running.empty();
    if (!list.none_yet.empty()) say("{}\n", list.none_yet);
    if (none_failed) say("every attempt is done: none failed\n");
    if (arguments->format == db::Format::kJson)
      print("{}", as_json(list));
    else if (list.none_yet.empty() && !none_failed)
      print("{}", as_text(list));
    exit_code = 0;
  });
}

}  // namespace ablate
