// An executor without processes: what its trials do, a script says. For tests of the scheduler.
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

/// What one run of a trial does.
struct Act {
  enum class End {
    kAnswers,      ///< with test/accuracy, which is its seed
    kFails,        ///< says why
    kCrashes,      ///< signal 11
    kSaysNothing,  ///< ends by itself, without a result
    kHangs,        ///< until its limit
    kLacksMemory,  ///< and says so
    kFindsNoRoom,  ///< there is no process for it
    kKillsWorker,  ///< and with it all others
    kStopsWorker   ///< which answers nothing from then on
  };
  enum class Way {
    kWhole,
    kGarbled,  ///< what it says is none of its messages
    kDoubled   ///< all of it, and its end, comes once more when it has ended
  };
  End end = End::kAnswers;
  double takes_s = 10;                         ///< until then
  std::int64_t bytes = 0;                      ///< of its own, which the worker tells half way and at the end; 0: it tells none
  std::int64_t device_bytes = 0;               ///< on its device, which it tells half way; 0: it tells none
  std::string why = "loss is nan at step 50";  ///< of kFails
  Way way = Way::kWhole;
};

enum class Load { kLoads, kIsRefused, kKillsWorker, kHangs };

class SimulatedExecutor;

/// The machine that executors run on: the script, and what was seen. Executors are numbered from 1.
struct Machine {
  explicit Machine(SimulatedClock& time) : clock(time) {}

  SimulatedClock& clock;
  /// @param run of this trial, from 1
  std::function<Act(std::uint64_t seed, int run)> act = [](std::uint64_t, int) { return Act(); };
  std::function<Load(int executor)> load = [](int) { return Load::kLoads; };
  double load_s = 1;
  std::function<double(int executor)> lives_s = [](int) { return kNever; };  ///< until somebody kills it
  std::function<bool(int executor)> starts = [](int) { return true; };       ///< else Error
  int most_jobs = 64;
  double save_s = 0.5;  ///< from a SaveCommand to the file; kNever: no answer

  int started = 0, given_up = 0;      ///< executors
  std::size_t most_together = 0;      ///< trials
  std::map<std::uint64_t, int> runs;  ///< by seed

  SimulatedExecutor* now = nullptr;  ///< the executor
  nlohmann::json environment = {{"host", "simulated"}};

  Executors executors();
};

class SimulatedExecutor final : public Executor {
 public:
  explicit SimulatedExecutor(Machine& machine);
  ~SimulatedExecutor() override { machine_.now = nullptr; }

  void send(const Command& command) override;
  /// What has happened until then; time passes as far as it has to.
  std::optional<Event> next(int timeout_ms) override;
  const nlohmann::json& environment() const override { return machine_.environment; }
  int most_jobs() const override { return machine_.most_jobs; }
  void give_up() override;

  /// What somebody does to it from outside.
  void is_killed(const std::string& why) { dies(machine_.clock.now_s(), why); }
  void is_stopped_until(double moment_s) { stopped_until_s_ = std::max(stopped_until_s_, moment_s); }
  /// One of its trials, by its seed; not one that has ended.
  void is_killed(std::uint64_t seed);

  /// Seeds of the trials that have not ended, though nobody may have heard of that.
  std::set<std::uint64_t> running() const;

 private:
  void load();
  void start(const StartCommand& command);
  void says(const StartCommand& command, const Act& act, double after_s, const nlohmann::json& data);
  void kill(int job);
  void ends(const StartCommand& command, const Act& act);
  void happens(double after_s, const Event& event) { due_.emplace(machine_.clock.now_s() + after_s, event); }
  void dies(double at_s, const std::string& why);
  /// When the next event comes.
  double event_s() const;
  /// Whether its end is still to come.
  bool runs(int job) const;

  Machine& machine_;
  std::multimap<double, Event> due_;      ///< by moment; of one moment in the order of sending
  std::map<int, std::uint64_t> running_;  ///< seeds by job
  bool has_data_ = false;
  double silent_from_s_ = kNever, dies_s_ = kNever, stopped_until_s_ = 0;
  std::string why_;
};

}  // namespace ablate::simulated
