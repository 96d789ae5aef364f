#include "tools/ablate/expected_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/util/flatten.h"
#include "db/report/inference/holm.h"
#include "db/report/inference/power.h"

namespace ablate {
namespace {

/// What a trial has beside its seeds and what dev chooses.
std::string setting_of(const Study& study, const Trial& trial) {
  auto values = flatten(trial.resolved);
  std::erase_if(values, [&](const auto& entry) {
    const auto& path = entry.first;
    return path == "seed" || path == "task.data_seed" ||
           std::any_of(study.tuned.begin(), study.tuned.end(), [&](const auto& tuned) { return history_path(tuned) == path; });
  });
  return nlohmann::json(values).dump();
}

}  // namespace

std::string expected_power_text(const Study& study, const std::vector<const PlannedTrial*>& trials) {
  std::map<std::string, std::map<std::string, std::set<std::int64_t>>> tasks;  ///< seeds by task and setting
  for (const auto* planned : trials) {
    auto task = planned->trial->resolved.at("task");
    task.erase("data_seed");
    tasks[task.dump()][setting_of(study, *planned->trial)].insert(planned->trial->spec.seed);
  }
  std::size_t comparisons = 0, seeds = 0;
  for (const auto& [unused, settings] : tasks) {
    comparisons += settings.size() - 1;
    for (const auto& [same, own] : settings) seeds = std::max(seeds, own.size());
  }
  if (comparisons == 0) return "";
  const auto n = static_cast<int>(seeds), count = static_cast<int>(comparisons);
  const double least = db::least_effect(n, db::kLevel / count);
  if (std::isinf(least)) return db::nothing_told_text(n, count);
  return fmt::format(
      "n = {}: over {} comparison{} at {:g} % a difference of at least {:.2g} deviations of the paired differences is told in "
      "{:g} "
      "% of cases",
      n, count, count == 1 ? "" : "s", 100 * db::kLevel, least, 100 * db::kPower);
}

}  // namespace ablate
