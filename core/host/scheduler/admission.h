// Decides which trials may start now, how many run at a time, and which trials run alone.
#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "core/host/scheduler/plan.h"

namespace ablate {

/// Times are the scheduler's own, in seconds.
class Admission {
 public:
  explicit Admission(int at_a_time) : most_(at_a_time), now_(at_a_time) {}

  int at_a_time() const { return now_; }
  /// Lowers the limit of trials at a time for the rest of the run.
  void limit(int most) {
    now_ = std::min(now_, most);
    most_ = std::min(most_, now_);
  }

  /// True if the trial may start beside `running` trials. `one` is any of the running trials, or null. A trial that ran when a
  /// worker died runs alone, so that the next death shows whether this trial is the cause.
  bool may_start(const PlannedTrial& next, std::size_t running, const PlannedTrial* one, double now_s) {
    if (now_s < next_start_s_) return false;
    if (now_ < wished() && now_s > next_raise_s_) ++now_, next_raise_s_ = now_s + kBetweenRaises;
    if (running == 0) return true;
    return static_cast<int>(running) < now_ && !is_alone(&next) && !is_alone(one);
  }

  /// Makes the trial run alone from now on.
  void run_alone(const PlannedTrial& trial) { alone_.insert(&trial); }

  /// Handles a trial that ran out of memory beside `others` trials (1 or more). It runs alone from now on, and at most `others`
  /// trials run at a time. The limit stays while the other trials may be the cause.
  void ran_out_beside(const PlannedTrial& trial, int others) {
    run_alone(trial);
    most_beside_[&trial] = others;
    now_ = std::min(now_, wished());
  }
  /// Handles a trial that ran out of memory even alone, and ends its limit. Returns how many more trials may run at a time.
  int ran_out_alone(const PlannedTrial& trial) {
    const int before = wished();
    most_beside_.erase(&trial);
    const int more = wished() - before;
    now_ += more;
    return more;
  }
  /// True if lack of memory has halved the number of trials at a time. It is then worthwhile to run a trial alone at once: this
  /// shows whether it needs too much memory even alone.
  bool is_halved() const { return 2 * wished() <= most_; }
  /// True if the trial's limit is in force: the trial ran out of memory beside others, but not alone yet.
  bool has_taken_some(const PlannedTrial& trial) const { return most_beside_.contains(&trial); }

  /// Records that a worker died while the trial ran. Returns true if the trial runs again: another trial may be the cause.
  bool may_run_again(const PlannedTrial& trial) { return ++deaths_[&trial] < kMostDeaths; }

  /// Records that there was no process or descriptor for a trial beside `others` trials. Returns true if it may be tried again.
  bool may_be_tried_again(const PlannedTrial& trial, std::size_t others, double now_s) {
    if (++refusals_[&trial] > kMostRefusals) return false;
    now_ = std::clamp(static_cast<int>(others), 1, now_);
    next_start_s_ = now_s + kBetweenStarts;
    next_raise_s_ = now_s + kBetweenRaises;
    return true;
  }

 private:
  static constexpr int kMostDeaths = 3, kMostRefusals = 30;
  static constexpr double kBetweenStarts = 1, kBetweenRaises = 10;

  bool is_alone(const PlannedTrial* trial) const { return deaths_.contains(trial) || alone_.contains(trial); }

  /// Number of trials at a time that the trials' own limits allow.
  int wished() const {
    int least = most_;
    for (const auto& [trial, others] : most_beside_) least = std::min(least, others);
    return least;
  }

  int most_, now_;  ///< limits of trials at a time: `most_` for the whole run, `now_` at present
  double next_start_s_ = 0, next_raise_s_ = 0;
  std::map<const PlannedTrial*, int> deaths_, refusals_;
  std::map<const PlannedTrial*, int> most_beside_;
  std::set<const PlannedTrial*> alone_;
};

}  // namespace ablate
