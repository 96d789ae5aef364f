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

/// Sizes in bytes, of what a trial's process shares with no other: its own memory, which is what another one costs the machine.
/// What a process held resident counts the data set in that it shares with the worker. It bounds the own memory from above, and
/// stands for it until a trial of the same settings has shown its own in this run. Times are the scheduler's own, in seconds.
/// Trials that are passed outlive it, and stay as they are.
class MemoryRoom {
 public:
  /// @param unshown_s after which a trial that has shown nothing is not waited for
  explicit MemoryRoom(double unshown_s = kUnshown_s) : unshown_s_(unshown_s) {}

  /// What a trial held resident that ran before, by key. Of other trials it says nothing.
  void remember(const std::string& key, std::int64_t peak_bytes);

  void started(int job, const PlannedTrial& trial, double now_s);
  /// @param bytes held now @param step how far it is: from its first step on it has shown what it takes
  void sized(int job, std::int64_t bytes, std::int64_t step);
  /// @param resident_bytes at most, of one that was done before it could show what it takes; 0: that is not known, as of one
  /// that failed or never started
  void ended(int job, std::int64_t resident_bytes);

  /// Whether the trial fits into what is free once all others hold what they are expected to take. A trial of which nothing is
  /// known counts as four times the most that any has shown; before any has shown something, none starts beside one that has
  /// not, for `unshown_s` at most.
  /// @param available_bytes of the machine now; below 0: not known, and everything has room
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
    std::map<std::string, std::int64_t> by_kind;  ///< a kind is all settings but the seed
    std::int64_t most = 0;
  };
  /// What a trial is expected to take; 0: nothing is known.
  std::int64_t need(const std::string& key, const std::string& kind) const;

  double unshown_s_;
  std::map<std::string, std::int64_t> by_key_;  ///< resident, before this run
  Peaks own_, resident_;                        ///< of this run; resident_: of trials that were done unseen
  std::map<int, Running> running_;
};

/// A MemoryRoom of each device: the first trial of a kind runs alone until its first step. Trials on the CPU have room. Times
/// are the scheduler's own, in seconds.
class DeviceRoom {
 public:
  /// As Room::device_bytes.
  using FreeBytes = std::function<std::int64_t(const std::string& device)>;

  explicit DeviceRoom(FreeBytes free_bytes) : free_bytes_(std::move(free_bytes)) {}

  void started(int job, const PlannedTrial& trial, double now_s);
  /// @param bytes held now, of torch's allocator @param step as MemoryRoom::sized
  void sized(int job, std::int64_t bytes, std::int64_t step);
  void ended(int job);
  bool has_room(const PlannedTrial& next, double now_s);

  /// What a process takes on a device beside its tensors: CUDA's context, kernels' code and libraries' work space. It is about
  /// half a GB, and more with further libraries.
  static constexpr std::int64_t kContext_bytes = 768LL << 20;
  /// Until a trial that has told nothing counts as one that takes nothing: CUDA's start, its data and a first step.
  static constexpr double kUnshown_s = 60;

 private:
  struct Device {
    MemoryRoom memory{kUnshown_s};
    std::int64_t free_bytes = -1;  ///< at the last look
    double next_look_s = 0;
  };
  /// nullptr: on the CPU.
  Device* device_of(const PlannedTrial& trial);

  FreeBytes free_bytes_;
  std::map<std::string, Device> devices_;
  std::map<int, Device*> running_;  ///< by job
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
