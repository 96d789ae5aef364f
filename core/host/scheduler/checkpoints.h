// Checkpoints, files beside the history: from which an attempt may go on, which it leaves, and which are needed no more.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/client/executor.h"
#include "core/host/scheduler/attempt_in_progress.h"
#include "core/host/scheduler/recorder.h"

namespace ablate {

/// Whatever goes wrong with them, no trial fails.
class Checkpoints {
 public:
  using Running = std::map<int, AttemptInProgress>;  ///< by job

  /// @param history beside which they are @param every_s 0: none is written, and none read @param again a trial's first start
  /// in this run begins anew
  Checkpoints(std::filesystem::path history, double every_s, bool again, Recorder::Note note)
      : history_(std::move(history)), every_s_(every_s), again_(again), note_(std::move(note)) {}

  bool are_written() const { return every_s_ > 0; }

  /// For the job of an attempt that is about to start.
  std::optional<CheckpointPlan> plan_of(const AttemptInProgress& starting, const nlohmann::json& environment,
                                        Recorder& recorder);

  /// After a message of a trial: tells the user what it says of checkpoints.
  void heard(AttemptInProgress& trial);

  /// Adds what an attempt that has ended has left to go on from.
  void add_left(const AttemptInProgress& ended, std::vector<db::Artifact>& left) const;

  /// After an attempt was put: removes what is needed no more. @param running others
  void tidy(const AttemptInProgress& ended, const Running& running, Recorder& recorder);

  /// Asks all running trials for a checkpoint after their step, and says so; once.
  void ask(const Running& running, Executor& executor, double now_s);
  /// Whether all have answered, or the time for it is over.
  bool have_answered(const Running& running, double now_s) const;

 private:
  void note_once(const char* matter, const std::string& text);

  std::filesystem::path history_;
  double every_s_;
  bool again_;
  Recorder::Note note_;
  std::set<std::string> begun_;  ///< keys of trials that this run has started
  std::set<std::string> noted_;  ///< matters
  std::optional<double> asked_s_;
  std::map<int, int> saves_before_;  ///< by job, when they were asked
};

}  // namespace ablate
