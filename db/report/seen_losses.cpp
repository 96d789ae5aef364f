#include "db/report/seen_losses.h"

namespace ablate::db {

void SeenLosses::take(const std::vector<WatchState>& states, double now_s) {
  std::map<Name, Seen> now;
  for (const auto& state : states)
    for (const auto& trial : state.running) {
      const Name name{trial.key, trial.started_us};
      if (now.contains(name)) continue;  // a trial of two experiments
      auto& seen = now[name];
      if (const auto before = trials_.find(name); before != trials_.end()) seen = std::move(before->second);
      seen.now_s = now_s;
      if (seen.step == trial.step) continue;
      seen.step = trial.step;
      seen.changed_s = now_s;
      if (!trial.loss || ++seen.skipped < seen.every) continue;
      seen.skipped = 0;
      seen.losses.push_back(*trial.loss);
      if (seen.losses.size() <= kMost) continue;
      for (std::size_t i = 0; 2 * i < seen.losses.size(); ++i) seen.losses[i] = seen.losses[2 * i];
      seen.losses.resize((seen.losses.size() + 1) / 2);
      seen.every *= 2;
    }
  trials_ = std::move(now);
}

std::span<const double> SeenLosses::of(const WatchedTrial& trial) const {
  const auto found = trials_.find({trial.key, trial.started_us});
  return found == trials_.end() ? std::span<const double>() : found->second.losses;
}

double SeenLosses::unchanged_s(const WatchedTrial& trial) const {
  const auto found = trials_.find({trial.key, trial.started_us});
  return found == trials_.end() ? 0 : found->second.now_s - found->second.changed_s;
}

}  // namespace ablate::db
