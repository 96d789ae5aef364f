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
  End end = End::kAnswers;
  double takes_s = 10;                         ///< until then
  std::int64_t bytes = 0;                      ///< of its own, which the worker tells half way and at the end; 0: it tells none
  std::string why = "loss is nan at step 50";  ///< of kFails
};

enum class Load { kLoads, kIsRefused, kKillsWorker, kHangs };

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

  int started = 0, given_up = 0;      ///< executors
  std::size_t most_together = 0;      ///< trials
  std::map<std::uint64_t, int> runs;  ///< by seed

  Executors executors();
};

class SimulatedExecutor final : public Executor {
 public:
  explicit SimulatedExecutor(Machine& machine);

  void send(const Command& command) override;
  /// What has happened until then; time passes as far as it has to.
  std::optional<Event> next(int timeout_ms) override;
  const nlohmann::json& environment() const override { return environment_; }
  int most_jobs() const override { return machine_.most_jobs; }
  void give_up() override;

 private:
  void load();
  void start(const StartCommand& command);
  void kill(int job);
  void ends(const StartCommand& command, const Act& act);
  void happens(double after_s, const Event& event) { due_.emplace(machine_.clock.now_s() + after_s, event); }
  void dies(double at_s, const std::string& why);

  Machine& machine_;
  nlohmann::json environment_;
  std::multimap<double, Event> due_;  ///< by moment; of one moment in the order of sending
  std::set<int> running_;
  double silent_from_s_ = kNever, dies_s_ = kNever;
  std::string why_;
};

}  // namespace ablate::simulated
