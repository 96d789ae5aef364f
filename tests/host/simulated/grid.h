// A grid in simulated time: trials, the machine that runs them, the disk that stores them, and the output for the user.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "core/host/scheduler/scheduler.h"
#include "tests/host/simulated/executor.h"
#include "tests/host/simulated/locks.h"
#include "tests/host/simulated/store.h"
#include "tests/support/says.h"
#include "tests/support/temporary.h"

namespace ablate::simulated {

/// Makes a trial that differs from others only in its seed.
Trial trial_of(int seed);
PlannedTrial planned_of(const Trial& trial);
/// Returns the plugins of a trial: an attention of this name, and a task.
std::vector<UsedPlugin> plugins_with(const std::string& attention);
/// Records the trials and their experiment. For RunOptions::record.
void record(const std::vector<PlannedTrial>& trials, db::GridStore& into);

class Grid {
 public:
  /// @param count number of trials, whose seeds are 1, 2, ...
  explicit Grid(int count);
  ~Grid() { close(file_); }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  /// Runs all trials that are not done. Exceptions of run_trials pass through.
  RunSummary run(RunOptions options);
  RunSummary run() { return run({.at_a_time = 4}); }
  /// Returns what() of the Error that ends a run.
  std::string error_of_run(const RunOptions& options);

  /// Sets the attention of this trial.
  void uses(int seed, const std::string& attention);

  /// Sets the device of this trial, in the form of train.device.
  void computes_on(int seed, const std::string& device);

  std::string key(int seed) const { return planned_.at(static_cast<std::size_t>(seed) - 1).key; }
  const History& history() const { return disk.files.at(kFile); }
  std::vector<std::string> outcomes(int seed) const { return history().outcomes(key(seed)); }
  /// Returns the latest attempt at a trial.
  const db::Attempt& attempt(int seed) const;
  /// Returns the output for the user.
  std::string output() const { return read_text(folder_ / "told"); }

  static constexpr const char* kFile = "/simulated/ablate.db";

  SimulatedClock clock;
  Machine machine{clock};
  Disk disk{clock};
  Holders holders;
  Room room;
  StopRequests stops{.often = [] { return 0; }, .who = [] { return std::string("a test"); }};

 private:
  std::vector<Trial> trials_;
  std::vector<PlannedTrial> planned_;
  TemporaryFolder folder_;
  int file_ = open((folder_ / "told").c_str(), O_WRONLY | O_CREAT, 0600);
  Output output_{file_};
};

}  // namespace ablate::simulated
