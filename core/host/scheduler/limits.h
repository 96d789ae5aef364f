// Limits of a running grid, so that it needs no supervision: trials wait, are ended or are set aside, and the user is notified.
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

#include "core/host/scheduler/plan.h"
#include "core/host/scheduler/processors.h"
#include "core/host/scheduler/scheduler.h"
#include "core/shared/pipe.h"
#include "db/types/records.h"

namespace ablate {

/// Watches the signs of progress of a running trial. The first sign comes before the first step. Each later sign comes after a
/// step or after a part of an evaluation. Times are the scheduler's own, in seconds.
class StallWatch {
 public:
  static constexpr double kLeast_s = 300;  ///< shortest silence of a stalled trial
  static constexpr double kTimes = 10;     ///< a stalled trial is silent for this multiple of the median time between two signs
  static constexpr double kFirst_s = 3600;  ///< longest silence before the end of the first step, which chooses kernels

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

  /// Compares a stalled trial's silence with its steps, for the user.
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
  std::vector<double> gaps_;  ///< the latest times between two signs, in a ring
  std::size_t next_ = 0;
};

/// Detects plugins that fail repeatedly in the same way, so that a run does not waste hours on them.
class Quarantine {
 public:
  using Plugins = std::set<std::pair<std::string, std::string>>;  ///< pairs of kind and id
  static constexpr std::size_t kEnough = 3;                       ///< failures with reasons equal except for numbers

  /// Plugins that several failures have in common.
  struct Blamed {
    Plugins plugins;
    std::string reason;  ///< "signal # (Segmentation fault)"
    std::string text() const;
  };

  /// Records a done trial: earlier failures are not the fault of its plugins.
  void done(const PlannedTrial& trial) { done_[plugins_of(trial)] = ++now_; }
  /// Records a failure. From the third failure with the same reason on, returns the plugins that the last three failures share.
  /// Returns nullopt if a trial with these plugins was done in between. Divergence does not count: settings often cause it.
  std::optional<Blamed> failed(const PlannedTrial& trial, const std::string& reason);

  /// True if a trial has all blamed plugins.
  static bool holds(const Plugins& blamed, const PlannedTrial& trial);
  static Plugins plugins_of(const PlannedTrial& trial);

 private:
  struct Failure {
    Plugins plugins;
    std::int64_t when;
  };
  std::int64_t now_ = 0;
  std::map<Plugins, std::int64_t> done_;                ///< value of now_ at the latest done trial with these plugins
  std::map<std::string, std::vector<Failure>> failed_;  ///< the latest failures, by reason
};

/// Estimates whether another trial fits into memory. Sizes are in bytes of a process's own memory: the cost of one more trial.
/// A resident size also counts the data set that the trial shares with the worker. It is an upper bound, used until a trial of
/// the same settings has shown its own memory in this run. Times are the scheduler's own, in seconds.
class MemoryRoom {
 public:
  /// @param unshown_s longest wait for a newly started trial to show its size
  explicit MemoryRoom(double unshown_s = kUnshown_s) : unshown_s_(unshown_s) {}

  /// Sets the resident size of an earlier attempt, for the trials with this key.
  void remember(const std::string& key, std::int64_t peak_bytes);

  void started(int job, const PlannedTrial& trial, double now_s);
  /// Records the bytes used now. From its first step on, a trial has shown its full size.
  void sized(int job, std::int64_t bytes, std::int64_t step);
  /// @param resident_bytes upper bound of the size of a trial that ended before it showed its size; 0: unknown (it failed)
  void ended(int job, std::int64_t resident_bytes);

  /// True if the trial fits into the free memory once all running trials have their expected size. An unknown trial counts as
  /// four times the largest size so far. Until any size is known, a trial waits at most `unshown_s` for a started trial.
  /// @param available_bytes free memory of the machine now; below 0: unknown, and every trial fits
  bool has_room(const PlannedTrial& next, std::int64_t available_bytes, double now_s);

  static constexpr double kUnshown_s = 10;

 private:
  struct Running {
    std::string kind, key;
    double since_s = 0;
    std::int64_t bytes = 0, peak = 0;
    bool has_shown = false;
  };
  struct Peaks {
    void add(const std::string& kind, std::int64_t bytes);
    std::map<std::string, std::int64_t> by_kind;  ///< a kind is all settings except the seed
    std::int64_t most = 0;
  };
  /// Returns a trial's expected size, or 0 if it is unknown.
  std::int64_t need(const std::string& key, const std::string& kind) const;

  double unshown_s_;
  std::map<std::string, std::int64_t> by_key_;  ///< resident sizes of attempts before this run
  Peaks own_, resident_;                        ///< sizes in this run; resident_: of trials that ended before they showed own_
  std::map<int, Running> running_;
};

/// A MemoryRoom for each device. The first trial on a device runs alone until its first step, for at most kUnshown_s. A trial
/// on the CPU always fits. Times are the scheduler's own, in seconds.
class DeviceRoom {
 public:
  /// Returns free bytes, as Room::device_bytes does.
  using FreeBytes = std::function<std::int64_t(const std::string& device)>;

  explicit DeviceRoom(FreeBytes free_bytes) : free_bytes_(std::move(free_bytes)) {}

  void started(int job, const PlannedTrial& trial, double now_s);
  /// Records the bytes used now in torch's allocator. From its first step on, a trial has shown its full size.
  void sized(int job, std::int64_t bytes, std::int64_t step);
  void ended(int job);
  bool has_room(const PlannedTrial& next, double now_s);

  /// Memory of a process on a device, without its tensors: CUDA's context, kernels' code and libraries' work space. About half
  /// a GB, more with additional libraries.
  static constexpr std::int64_t kContext_bytes = 768LL << 20;
  /// A trial that reports nothing for this long counts as needing nothing. CUDA's start, data and a first step take less time.
  static constexpr double kUnshown_s = 60;

 private:
  struct Device {
    MemoryRoom memory{kUnshown_s};
    std::int64_t free_bytes = -1;  ///< at the latest query
    double next_look_s = 0;
  };
  /// Returns null for a trial on the CPU.
  Device* device_of(const PlannedTrial& trial);

  FreeBytes free_bytes_;
  std::map<std::string, Device> devices_;
  std::map<int, Device*> running_;  ///< by job
};

/// Limits of one run of a grid. Times are the scheduler's own, in seconds. For one thread only.
class Limits {
 public:
  using Note = std::function<void(const std::string&)>;
  using Waiting = std::deque<const PlannedTrial*>;

  /// @param history the database's file
  /// @param trials number of trials to run
  Limits(const RunOptions& options, const Surroundings& outside, std::filesystem::path history, std::size_t trials, Note note);

  /// Stores the facts about earlier attempts at a trial of the run.
  void remember(const PlannedTrial& trial, const db::PastTries& past) {
    memory_.remember(trial.key, past.peak_bytes);
    tries_[&trial] = tries_of(past.outcomes);
  }

  /// True if memory, the trial's device and the disk have room for one more trial. Notes when the disk is full, and
  /// when it has room again.
  bool have_room(const PlannedTrial& next, double now_s);

  /// Fills in the resources that the job may use: memory and processors.
  void start(const PlannedTrial& trial, StartCommand& command, double now_s);
  /// Records a step, or a part of an evaluation.
  void sign(int job, double now_s);
  void sized(int job, std::int64_t bytes, std::int64_t step) {
    memory_.sized(job, bytes, step);
    next_memory_look_s_ = 0;  // the job's memory is no longer free
  }
  /// Records the memory that the job uses on its device.
  void sized_on_device(int job, std::int64_t bytes, std::int64_t step) { devices_.sized(job, bytes, step); }
  /// Removes a job that did not start, or has ended. `resident_bytes` is an upper bound of a done trial's size, else 0.
  void forget(int job, std::int64_t resident_bytes = 0);

  /// Returns jobs that have stalled since the last call. The caller must end them.
  std::vector<int> newly_stalled(double now_s);
  /// Returns why an ended job counts as stalled, or nullopt if it does not.
  std::optional<std::string> why_stalled(int job) const;

  /// True if a trial that ran out of memory runs once more, alone: it ran beside others, and has tries left.
  /// @param had_company true if it ran beside others
  bool runs_again(const PlannedTrial& trial, const db::Attempt& attempt, bool had_company) const;

  /// Handles an ended trial that the summary already counts. Removes barred trials from the queue (leave_out).
  void ended(const PlannedTrial& trial, const db::Attempt& attempt, RunSummary& summary, Waiting& waiting);

  /// True if the trial must not start: too many trials have failed, or its plugins are blamed for failures. Plugins are blamed
  /// until a trial with them is done.
  bool is_barred(const PlannedTrial& trial) const;
  /// Removes barred trials from `waiting`, counts them as not started or quarantined, and notes each reason once.
  void leave_out(Waiting& waiting, RunSummary& summary);

  /// Sends a notice, once, that the history was moved to another file.
  void rescued(const std::filesystem::path& to, const std::string& why, const RunSummary& summary);

 private:
  void send_notice(const char* event, const std::string& reason, const std::filesystem::path& database,
                   const RunSummary& summary);
  bool disk_has_room(double now_s);
  void leave_out_all(Waiting& waiting, RunSummary& summary);

  RunOptions options_;
  Surroundings outside_;
  std::filesystem::path history_;
  Note note_;
  int most_failures_;                     ///< 0: any number
  std::optional<Processors> processors_;  ///< set if trials get their own processors
  MemoryRoom memory_;
  DeviceRoom devices_;
  Quarantine quarantine_;
  std::map<int, StallWatch> watches_;
  std::map<int, std::string> stalled_;        ///< by job: the reason
  std::map<const PlannedTrial*, int> tries_;  ///< tries before this run
  struct SetAsideFor {
    std::string reason;  ///< reason of the failures
    int trials = 0;
    std::size_t line = 0;  ///< index in RunSummary::quarantines, if `trials` is above 0
  };
  std::map<Quarantine::Plugins, SetAsideFor> blamed_;
  bool too_many_failed_ = false, has_noted_too_many_ = false;
  bool has_sent_failure_ = false, has_sent_rescue_ = false, has_noted_processors_ = false, disk_is_low_ = false;
  double next_look_s_ = 0, next_memory_look_s_ = 0;
  std::int64_t memory_bytes_ = -1;  ///< available on the machine, at the latest query
};

}  // namespace ablate
