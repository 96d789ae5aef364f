// The files that attempts leave beside the history: all that one printed, where that is more than the tail that the history
// holds, its best weights, and checkpoints. A convenience: whatever goes wrong with them, no trial fails.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/client/executors.h"
#include "core/host/scheduler/attempt_in_progress.h"
#include "core/host/scheduler/recorder.h"

namespace ablate {

/// Checkpoints, from which an attempt may go on, which it leaves, and which are needed no more. Whatever goes wrong with them,
/// no trial fails.
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

class AttemptFiles {
 public:
  /// @param history beside which they are @param keeps_weights of attempts that are done @param note told once of each matter
  AttemptFiles(std::filesystem::path history, bool keeps_weights, Recorder::Note note)
      : history_(std::move(history)), keeps_weights_(keeps_weights), note_(std::move(note)) {}

  /// Absolute; the worker makes them. @return of weights "" where none are kept
  std::string output_of(const db::Attempt& attempt) const;
  std::string weights_of(const db::Attempt& attempt) const;

  /// What an attempt that has ended has left. Weights of one that is not done are removed.
  std::vector<db::Artifact> left_by(const AttemptInProgress& ended);

  /// After an attempt was recorded: removes the oldest files of output above the limit.
  void limit(const db::Attempt& recorded, Recorder& recorder);

 private:
  void find_output(const AttemptInProgress& ended, std::vector<db::Artifact>& left);
  void find_weights(const AttemptInProgress& ended, std::vector<db::Artifact>& left);
  void note_once(const char* matter, const std::string& text);

  std::filesystem::path history_;
  bool keeps_weights_;
  Recorder::Note note_;
  std::set<std::string> noted_;  ///< matters
};

}  // namespace ablate
