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

using ByPath = std::map<std::string, nlohmann::json>;

/// What a trial has beside its seeds and what dev chooses, by path.
ByPath setting_of(const Study& study, const Trial& trial) {
  ByPath setting;
  for (const auto& entry : flatten(trial.resolved)) {
    const auto& path = entry.first;
    const bool is_tuned =
        std::any_of(study.tuned.begin(), study.tuned.end(), [&](const auto& one) { return history_path(one) == path; });
    if (path != "seed" && !is_data_seed(path) && !is_tuned) setting[path] = entry.second;
  }
  return setting;
}

}  // namespace

std::string expected_power_text(const Study& study, const std::vector<const PlannedTrial*>& trials) {
  std::map<ByPath, std::map<ByPath, std::set<std::int64_t>>> tasks;  ///< seeds by test examples and setting
  for (const auto* planned : trials) {
    const auto setting = setting_of(study, *planned->trial);
    auto task = setting;
    const bool in_batches = planned->trial->spec.train.test_batches > 0;
    std::erase_if(task, [&](const auto& entry) { return !decides_test_examples(entry.first, in_batches); });
    tasks[task][setting].insert(static_cast<std::int64_t>(planned->trial->spec.seed));
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
      "{:g} % of cases",
      n, count, count == 1 ? "" : "s", 100 * db::kLevel, least, 100 * db::kPower);
}

}  // namespace ablate
