// An executor without processes, for tests of the scheduler. A script defines the behaviour of its trials.
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "core/host/client/executors.h"
#include "tests/support/simulated_clock.h"

namespace ablate::simulated {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Behaviour in one run of a trial.
struct Act {
  enum class End {
    kAnswers,      ///< succeeds, with its seed as test/accuracy
    kFails,        ///< reports the reason
    kCrashes,      ///< signal 11
    kSaysNothing,  ///< exits without a result
    kHangs,        ///< runs until its time limit
    kLacksMemory,  ///< runs out of memory and reports this
    kFindsNoRoom,  ///< gets no process
    kKillsWorker,  ///< ends the worker and all its trials
    kStopsWorker   ///< makes the worker silent from then on
  };
  enum class Way {
    kWhole,
    kGarbled,  ///< its messages are of no known kind
    kDoubled   ///< all messages and the end come again, after the end
  };
  End end = End::kAnswers;
  double takes_s = 10;                         ///< time until the end
  std::int64_t bytes = 0;                      ///< own memory, reported by the worker half way and at the end; 0: not reported
  std::int64_t device_bytes = 0;               ///< memory on its device, reported half way; 0: not reported
  std::string why = "loss is nan at step 50";  ///< reason for kFails
  Way way = Way::kWhole;
};

enum class Load { kLoads, kIsRefused, kKillsWorker, kHangs };

class SimulatedExecutor;

/// Script and observations of a machine that runs executors. Executors are numbered from 1.
struct Machine {
  explicit Machine(SimulatedClock& time) : clock(time) {}

  SimulatedClock& clock;
  /// Returns a trial's behaviour in one of its runs, which are numbered from 1.
  std::function<Act(std::uint64_t seed, int run)> act = [](std::uint64_t, int) { return Act(); };
  std::function<Load(int executor)> load = [](int) { return Load::kLoads; };
  double load_s = 1;
  std::function<double(int executor)> lives_s = [](int) { return kNever; };  ///< time until an outside kill
  std::function<bool(int executor)> starts = [](int) { return true; };       ///< false: the executor's start throws Error
  int most_jobs = 64;
  double save_s = 0.5;  ///< time from a SaveCommand to the file; kNever: no answer

  int started = 0, given_up = 0;      ///< numbers of executors that started, and that were given up
  std::size_t most_together = 0;      ///< largest number of trials that ran together
  std::map<std::uint64_t, int> runs;  ///< number of runs by seed

  SimulatedExecutor* now = nullptr;  ///< the present executor
  nlohmann::json environment = {{"host", "simulated"}};

  Executors executors();
};

class SimulatedExecutor final : public Executor {
 public:
  explicit SimulatedExecutor(Machine& machine);
  ~SimulatedExecutor() override { machine_.now = nullptr; }

  void send(const Command& command) override;
  /// Returns the next event and advances the clock to it, or returns nullopt after the timeout.
  std::optional<Event> next(int timeout_ms) override;
  const nlohmann::json& environment() const override { return machine_.environment; }
  int most_jobs() const override { return machine_.most_jobs; }
  void give_up() override;

  /// Actions from outside.
  void is_killed(const std::string& why) { dies(machine_.clock.now_s(), why); }
  void is_stopped_until(double moment_s) { stopped_until_s_ = std::max(stopped_until_s_, moment_s); }
  /// Kills a running trial, given by its seed.
  void is_killed(std::uint64_t seed);

  /// Seeds of the trials that still run. A trial whose end has happened is left out, even if the event is still unread.
  std::set<std::uint64_t> running() const;

 private:
  void load();
  void start(const StartCommand& command);
  void says(const StartCommand& command, const Act& act, double after_s, const nlohmann::json& data);
  void kill(int job);
  void ends(const StartCommand& command, const Act& act);
  void happens(double after_s, const Event& event) { due_.emplace(machine_.clock.now_s() + after_s, event); }
  void dies(double at_s, const std::string& why);
  /// Time of the next event; kNever if no event will come.
  double event_s() const;
  /// True if the job's end is still to come.
  bool runs(int job) const;

  Machine& machine_;
  std::multimap<double, Event> due_;      ///< events by time; events at the same time keep the order in which they were sent
  std::map<int, std::uint64_t> running_;  ///< seeds by job
  bool has_data_ = false;
  double silent_from_s_ = kNever, dies_s_ = kNever, stopped_until_s_ = 0;
  std::string why_;
};

}  // namespace ablate::simulated
