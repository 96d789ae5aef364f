// One `ablate run` in a simulation: a scheduler with its own machine, and with the disk and the clock of the world.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "core/host/scheduler/whole_grid.h"
#include "tests/host/simulated/executor.h"
#include "tests/host/simulated/store.h"

namespace ablate::simulation {

class World;

/// Thrown from calls that a killed scheduler makes, to unwind its stack. Code that the scheduler runs meanwhile has no effect.
struct Killed {};

/// Receives the output for the user.
class UserOutput final : public Output {
 public:
  UserOutput(World& world, int scheduler) : Output(-1), world_(world), scheduler_(scheduler) {}
  bool write(std::string_view text) noexcept override;
  void is_killed() { is_killed_ = true; }

 private:
  World& world_;
  int scheduler_;
  bool is_killed_ = false;
};

class SimulatedScheduler {
 public:
  /// @param number number of the scheduler and of its process
  SimulatedScheduler(World& world, int number, const RunOptions& options);

  int number() const { return number_; }
  /// Requested number of trials at a time. It stays the same if a planted fault changes the options.
  int at_a_time() const { return at_a_time_; }
  bool lives() const { return life_ != nullptr && !killed_; }
  bool is_killed() const { return killed_; }
  bool is_again() const { return options_.again; }

  /// Runs until its next wait for an event, or its end. Throws nothing: exceptions are traced and checked.
  void step();

  /// Kills the scheduler and its worker, and frees its locks.
  void kill();
  void stop_until(double moment_s) { stopped_until_s_ = std::max(stopped_until_s_, moment_s); }
  void goes_on() { stopped_until_s_ = 0; }
  double stopped_until_s() const { return stopped_until_s_; }
  /// Sends a stop request. If it is the first request, and mild, running trials end normally.
  void is_asked_to_stop(bool mildly);
  /// Records that its worker starts a trial.
  void starts(std::uint64_t seed);

  /// Returns its worker, or null if it has no worker now.
  simulated::SimulatedExecutor* worker() const { return lives() ? life_->machine.now : nullptr; }
  std::set<std::uint64_t> running() const { return worker() != nullptr ? worker()->running() : std::set<std::uint64_t>(); }

  /// Records that the scheduler's open file is gone.
  void loses_database() { has_lost_database_ = true; }
  bool has_lost_database() const { return has_lost_database_; }

 private:
  /// Everything that ends with the scheduler.
  struct Life {
    explicit Life(SimulatedClock& clock) : machine(clock) {}
    simulated::Machine machine;
    std::unique_ptr<db::GridStore> store;
    std::unique_ptr<Executors> executors;
    std::unique_ptr<WholeGrid> grid;
  };

  /// Makes a step of the grid. The first call makes the grid instead, and reads the history.
  void advance();
  void end(const std::string& how);
  Surroundings surroundings();

  World& world_;
  int number_, at_a_time_;
  RunOptions options_;  ///< including planted faults
  UserOutput output_;
  std::unique_ptr<Life> life_;
  int signals_ = 0, steps_ = 0;
  int last_starts_ = 0;  ///< last step in which it may start trials after a request to stop
  bool first_is_mild_ = false;
  bool killed_ = false, on_stack_ = false, has_lost_database_ = false;
  double stopped_until_s_ = 0;
};

}  // namespace ablate::simulation
