#include "tools/ablate/dry_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "core/host/launch/only.h"
#include "core/host/scheduler/plan_text.h"
#include "core/host/scheduler/standing.h"
#include "core/host/study/diagnostics.h"
#include "core/util/flatten.h"
#include "core/util/plain_json.h"
#include "tools/ablate/expected_power.h"
#include "tools/ablate/expected_time.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Every value of a trial, with the place that it is from; a default has none.
std::string values_text(const Trial& trial) {
  const auto values = flatten(trial.resolved());
  std::size_t paths = 0, texts = 0;
  std::vector<std::array<std::string, 3>> lines;
  for (const auto& [path, value] : values) {
    const auto* where = trial.where.find(path);
    if (where == nullptr) where = trial.where.find(path + ".plugin");
    lines.push_back({path, db::one_row(value.is_string() ? value.get<std::string>() : plain_json(value)),
                     where == nullptr ? "" : path_text(to_text(*where))});
    paths = std::max(paths, path.size()), texts = std::max(texts, lines.back()[1].size());
  }
  std::string text;
  for (const auto& [path, value, where] : lines)
    text += where.empty() ? fmt::format("  {:<{}}  {}\n", path, paths, value)
                          : fmt::format("  {:<{}}  {:<{}}  {}\n", path, paths, value, texts, where);
  return text;
}

}  // namespace

std::string dry_run_text(const PlannedStudy& plan) {
  const auto& study = plan.study;
  const auto& chosen = plan.chosen;
  const auto& many = plan.many;
  const auto& database = plan.asked.database;
  many.begin("comparing them with the history");
  const auto standing =
      standings(chosen, study.name, database, [&](std::size_t done) { many.so_far(done, "compared with the history"); });
  auto text = fmt::format("{}: {} trial{}{}\n", study.name, chosen.size(), chosen.size() == 1 ? "" : "s",
                          chosen.size() == study.trials.size() ? "" : fmt::format(" of {}, by --only", study.trials.size()));
  if (!study.tuned.empty())
    text += fmt::format("dev chooses, for each setting of the others: {}\n",
                        db::one_row(fmt::format("{}", fmt::join(study.tuned, ", "))));
  const bool say_once = standing.nothing_like_them && chosen.size() > 1;
  if (say_once) text += "none is done: nothing like these trials has been run\n";
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    text += fmt::format("{:>5}  {}  {}\n", i + 1, chosen[i]->key.substr(0, kShownDigits), db::one_row(chosen[i]->trial->label));
    if (!say_once)
      text += fmt::format("       {}{}\n", db::one_row(standing.lines[i]),
                          plan.asked.again && standing.done[i] ? "; --again runs it once more" : "");
  }
  text += "\nThe first of them in full:\n" + values_text(*chosen.front()->trial);
  text += fmt::format("\n{}\n", evaluation_text(chosen));
  for (const auto& more :
       {positions_text(chosen), expected_time_text(chosen, plan.asked.again, plan.jobs, study.timeout_s, database),
        expected_power_text(plan.study, chosen)})
    if (!more.empty()) text += more + "\n";
  for (const auto& line : standing.left_out) say("warning: {}\n", line);
  return text;
}

}  // namespace ablate
