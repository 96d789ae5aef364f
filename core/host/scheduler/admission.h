// Which trials may start now: how many side by side, and which of them alone.
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
  /// At most so many from now on, for good.
  void limit(int most) {
    now_ = std::min(now_, most);
    most_ = std::min(most_, now_);
  }

  /// A trial that has seen a worker die runs alone, so that the next death tells whether it is the one.
  /// @param running how many trials run @param one any of them; nullptr where none runs
  bool may_start(const PlannedTrial& next, std::size_t running, const PlannedTrial* one, double now_s) {
    if (now_s < next_start_s_) return false;
    if (now_ < wished() && now_s > next_raise_s_) ++now_, next_raise_s_ = now_s + kBetweenRaises;
    if (running == 0) return true;
    return static_cast<int>(running) < now_ && !is_alone(&next) && !is_alone(one);
  }

  /// From now on it runs beside no other.
  void run_alone(const PlannedTrial& trial) { alone_.insert(&trial); }

  /// It ran out of memory beside so many others: it runs alone from now on, and no more than so many do at a time. That stays
  /// while it may be that its company was the cause.
  /// @param others 1 or more
  void ran_out_beside(const PlannedTrial& trial, int others) {
    run_alone(trial);
    most_beside_[&trial] = others;
    now_ = std::min(now_, wished());
  }
  /// It ran out of memory without company, too: what was taken on its account is given back. @return how many more at a time
  int ran_out_alone(const PlannedTrial& trial) {
    const int before = wished();
    most_beside_.erase(&trial);
    const int more = wished() - before;
    now_ += more;
    return more;
  }
  /// Whether half of the trials at a time, or more, are taken on account of trials. Then it is worth a pause to learn which of
  /// them take too much by themselves.
  bool is_halved() const { return 2 * wished() <= most_; }
  /// Whether the trial has taken some, and has not shown that its company was not the cause.
  bool has_taken_some(const PlannedTrial& trial) const { return most_beside_.contains(&trial); }

  /// A worker died while the trial ran. @return whether that may be another trial's fault: then this one runs again
  bool may_run_again(const PlannedTrial& trial) { return ++deaths_[&trial] < kMostDeaths; }

  /// There was no process or no descriptor for a trial, beside so many others. @return whether to try again
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

  /// As long as no trial gives them back.
  int wished() const {
    int least = most_;
    for (const auto& [trial, others] : most_beside_) least = std::min(least, others);
    return least;
  }

  int most_, now_;  ///< for good; for the moment
  double next_start_s_ = 0, next_raise_s_ = 0;
  std::map<const PlannedTrial*, int> deaths_, refusals_;
  std::map<const PlannedTrial*, int> most_beside_;
  std::set<const PlannedTrial*> alone_;
};

}  // namespace ablate
