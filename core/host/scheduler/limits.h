// What keeps a running grid from needing a person: which trials wait, are ended or are left alone, and who is told.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/host/scheduler/memory_room.h"
#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/processors.h"
#include "core/host/scheduler/scheduler.h"
#include "core/shared/pipe.h"
#include "db/types/records.h"

namespace ablate {

/// Tells whether a running trial still gets on. Told of each sign of it: the first says that it is about to take a step, each
/// other one that it has taken a step or a part of an evaluation. Times are the scheduler's own, in seconds.
class StallWatch {
 public:
  static constexpr double kLeast_s = 300;  ///< without a sign, for any trial to be stalled
  static constexpr double kTimes = 10;     ///< the median time between two signs
  static constexpr double kFirst_s =
      3600;  ///< for the first step: kernels are chosen in it, and nothing tells how long one takes

  explicit StallWatch(double begun_s) : last_s_(begun_s) {}

  void sign(double now_s) {
    const double gap_s = now_s - std::exchange(last_s_, now_s);
    if (!std::exchange(is_ready_, true)) return;
    if (gaps_.size() < kMostKept)
      gaps_.push_back(gap_s);
    else
      gaps_[next_++ % kMostKept] = gap_s;
  }

  double silent_s(double now_s) const { return now_s - last_s_; }

  bool is_stalled(double now_s) const {
    if (silent_s(now_s) < kLeast_s) return false;
    return silent_s(now_s) >= patience_s();
  }

  /// Of one that is stalled: how its silence compares.
  std::string why() const {
    if (gaps_.empty()) return "longer than a first step may take";
    return patience_s() > kLeast_s ? fmt::format("{:g} times the median step", kTimes) : "far longer than its steps take";
  }

  double patience_s() const {
    if (gaps_.empty()) return kFirst_s;
    auto sorted = gaps_;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    return std::max(kLeast_s, kTimes * *middle);
  }

 private:
  static constexpr std::size_t kMostKept = 101;
  double last_s_;
  bool is_ready_ = false;
  std::vector<double> gaps_;  ///< the latest
  std::size_t next_ = 0;
};

/// Plugins that fail again and again in the same way, so that no night is spent on them.
class Quarantine {
 public:
  using Plugins = std::set<std::pair<std::string, std::string>>;  ///< kinds and ids
  static constexpr std::size_t kEnough = 3;                       ///< failures with one reason, numbers in it aside

  /// What so many failures have in common.
  struct Blamed {
    Plugins plugins;
    std::string reason;  ///< "signal # (Segmentation fault)"
    std::string text() const;
  };

  /// A trial is done: earlier failures are no fault of the plugins that it has.
  void done(const PlannedTrial& trial) { done_[plugins_of(trial)] = ++now_; }
  /// @return from the third failure with one reason on: the plugins that the last three share, unless a trial with them was
  /// done in between. Divergence does not count: it comes of settings as often as of code.
  std::optional<Blamed> failed(const PlannedTrial& trial, const std::string& reason);

  /// Whether a trial has all plugins that are blamed.
  static bool holds(const Plugins& blamed, const PlannedTrial& trial);
  static Plugins plugins_of(const PlannedTrial& trial);

 private:
  struct Failure {
    Plugins plugins;
    std::int64_t when;
  };
  std::int64_t now_ = 0;
  std::map<Plugins, std::int64_t> done_;                ///< when last
  std::map<std::string, std::vector<Failure>> failed_;  ///< by reason, the latest
};

/// Of one run of a grid. Times are the scheduler's own, in seconds. One thread.
class Limits {
 public:
  using Note = std::function<void(const std::string&)>;
  using Waiting = std::deque<const PlannedTrial*>;

  /// @param history the database's file @param trials that are to run
  Limits(const RunOptions& options, const Surroundings& outside, std::filesystem::path history, std::size_t trials, Note note);

  /// What is known of earlier attempts at a trial of the run.
  void remember(const PlannedTrial& trial, const db::PastTries& past) {
    memory_.remember(trial.key, past.peak_bytes);
    tries_[&trial] = tries_of(past.outcomes);
  }

  /// Whether memory, the trial's device and disk have room for one more; where the disk has none, that is told once.
  bool have_room(const PlannedTrial& next, double now_s);

  /// Fills in what the job may use: memory and processors.
  void start(const PlannedTrial& trial, StartCommand& command, double now_s);
  /// A step, or a part of an evaluation.
  void sign(int job, double now_s);
  void sized(int job, std::int64_t bytes, std::int64_t step) {
    memory_.sized(job, bytes, step);
    next_memory_look_s_ = 0;  // what it holds is free no more
  }
  /// The same of its device's memory.
  void sized_on_device(int job, std::int64_t bytes, std::int64_t step) { devices_.sized(job, bytes, step); }
  /// It did not start, or has ended. @param resident_bytes at most, of one that is done; else 0
  void forget(int job, std::int64_t resident_bytes = 0);

  /// Jobs that have stalled since the last call: they are to be ended.
  std::vector<int> newly_stalled(double now_s);
  /// Why a job that has ended is a stalled one; nothing where it is not.
  std::optional<std::string> why_stalled(int job) const;

  /// Whether a trial that ran out of memory runs once more, alone: it had company, and may be tried again. @param had_company
  /// which one that runs alone has not
  bool runs_again(const PlannedTrial& trial, const db::Attempt& attempt, bool had_company) const;

  /// After the summary counts it. Takes out of the queue what is not to start any more, as leave_out does.
  void ended(const PlannedTrial& trial, const db::Attempt& attempt, RunSummary& summary, Waiting& waiting);

  /// Whether a trial is not to start any more: too many have failed, or what it is made of is blamed for failures. What is
  /// blamed is so until a trial with it is done.
  bool is_barred(const PlannedTrial& trial) const;
  /// Takes what is barred out of `waiting`, counts it as not started or as quarantined, and says so, once for each reason.
  void leave_out(Waiting& waiting, RunSummary& summary);

  /// The history had to go elsewhere; told once.
  void rescued(const std::filesystem::path& to, const std::string& why, const RunSummary& summary);

 private:
  void tell(const char* event, const std::string& reason, const std::filesystem::path& database, const RunSummary& summary);
  bool disk_has_room(double now_s);
  void leave_out_all(Waiting& waiting, RunSummary& summary);

  RunOptions options_;
  Surroundings outside_;
  std::filesystem::path history_;
  Note note_;
  int most_failures_;                     ///< 0: any number
  std::optional<Processors> processors_;  ///< where trials have their own
  MemoryRoom memory_;
  DeviceRoom devices_;
  Quarantine quarantine_;
  std::map<int, StallWatch> watches_;
  std::map<int, std::string> stalled_;        ///< why, by job
  std::map<const PlannedTrial*, int> tries_;  ///< before this run
  struct SetAsideFor {
    std::string reason;  ///< of the failures
    int trials = 0;
    std::size_t line = 0;  ///< of RunSummary::quarantines, where there are trials
  };
  std::map<Quarantine::Plugins, SetAsideFor> blamed_;
  bool too_many_failed_ = false, has_told_too_many_ = false;
  bool has_told_failure_ = false, has_told_rescue_ = false, has_told_processors_ = false, disk_is_low_ = false;
  double next_look_s_ = 0, next_memory_look_s_ = 0;
  std::int64_t memory_bytes_ = -1;  ///< of the machine that can be had, at the last look
};

}  // namespace ablate
