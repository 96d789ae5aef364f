#include "tools/ablate/shares/planned_shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "db/history/lineage.h"
#include "db/history/reader.h"
#include "tools/ablate/expected_time.h"

namespace ablate {

PlannedStudy shareable(PlannedStudy plan) {
  if (plan.study.tuning_seeds.empty() && plan.study.waits_for_dev())
    throw ConfigError({{plan.study.longer_at,
                        "grid.longer: found beside grid.tune in a study that is split into shares: the longer trials wait for "
                        "the values that all trials choose, and a share sees only its own trials. Run the study on one "
                        "machine, or leave one of the two out"}});
  if (!plan.study.tuning_seeds.empty())
    throw ConfigError({{plan.study.tuning_seeds_at,
                        "grid.tune.seeds: found in a study that is split into shares, expected only seeds of [grid]: all "
                        "trials that tune choose the reported values, and a share sees only its own trials. Run the study on "
                        "one machine, or leave out these seeds"}});
  return plan;
}

SharesPlan planned_shares(const PlannedStudy& plan, const std::filesystem::path& database, int shares) {
  std::set<std::string> done;
  if (std::error_code none; std::filesystem::exists(database, none)) {
    std::vector<std::string> keys;
    for (const auto* trial : plan.wanted) keys.push_back(trial->key);
    for (const auto& [key, attempt] : db::done_attempts(db::Reader(database), keys)) done.insert(key);
  }
  return make_shares(plan.study.name, plan.wanted, expected_seconds(plan.wanted, database), done, shares);
}

int trials_left(const SharesPlan& plan) {
  return static_cast<int>(std::count_if(plan.trials.begin(), plan.trials.end(),
                                        [](const auto& one) { return one.share != SharedTrial::kDoneBefore; }));
}

std::string shares_text(const SharesPlan& plan) {
  std::vector<double> costs(static_cast<std::size_t>(plan.shares));
  std::size_t done = 0, empty = 0;
  std::vector<std::size_t> trials(costs.size());
  for (const auto& trial : plan.trials) {
    if (trial.share == SharedTrial::kDoneBefore) {
      ++done;
      continue;
    }
    costs[static_cast<std::size_t>(trial.share)] += trial.cost;
    ++trials[static_cast<std::size_t>(trial.share)];
  }
  double sum = 0;
  for (const auto cost : costs) sum += cost;
  for (const auto count : trials) empty += count == 0 ? 1 : 0;
  auto text = fmt::format("{}: {} trial{} in {} share{}", plan.experiment, plan.trials.size() - done,
                          plan.trials.size() - done == 1 ? "" : "s", plan.shares, plan.shares == 1 ? "" : "s");
  if (sum > 0) text += fmt::format(", the largest costs {:.1f} %", 100 * *std::max_element(costs.begin(), costs.end()) / sum);
  if (done > 0) text += fmt::format("; {} done before and in no share", done);
  if (empty > 0) text += fmt::format("; {} share{} no trials", empty, empty == 1 ? " has" : "s have");
  return text + "\n";
}

}  // namespace ablate
