// Files of attempts beside the history: the full output (the history has only its end), the best weights, and checkpoints. They
// are optional: no error with them makes a trial fail.
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

/// Manages checkpoints: plans them, records the checkpoints that an attempt left, and removes old ones.
class Checkpoints {
 public:
  using Running = std::map<int, AttemptInProgress>;  ///< by job

  /// @param history path of the history; the files are beside it
  /// @param every_s seconds between checkpoints; 0: none is written or read
  /// @param again true if a trial's first start in this run must use no checkpoint
  Checkpoints(std::filesystem::path history, double every_s, bool again, Recorder::Note note)
      : history_(std::move(history)), every_s_(every_s), again_(again), note_(std::move(note)) {}

  bool are_written() const { return every_s_ > 0; }

  /// Returns the plan for the job of an attempt that is about to start.
  std::optional<CheckpointPlan> plan_of(const AttemptInProgress& starting, const nlohmann::json& environment,
                                        Recorder& recorder);

  /// Called after a message of a trial: passes its news about checkpoints to the user.
  void heard(AttemptInProgress& trial);

  /// Adds the checkpoints that an ended attempt left, from which its trial can resume.
  void add_left(const AttemptInProgress& ended, std::vector<db::Artifact>& left) const;

  /// Removes checkpoints that neither the ended attempt nor the running trials need, after the attempt was recorded.
  void tidy(const AttemptInProgress& ended, const Running& running, Recorder& recorder);

  /// Asks running trials to save a checkpoint after their current step, and notes the request. Only the first call counts.
  void ask(const Running& running, Executor& executor, double now_s);
  /// True if all trials have answered, or the time for the answers is over.
  bool have_answered(const Running& running, double now_s) const;

 private:
  void note_once(const char* matter, const std::string& text);

  std::filesystem::path history_;
  double every_s_;
  bool again_;
  Recorder::Note note_;
  std::set<std::string> begun_;  ///< keys of trials that this run has started
  std::set<std::string> noted_;  ///< kinds of messages already noted
  std::optional<double> asked_s_;
  std::map<int, int> saves_before_;  ///< number of checkpoints by job, at the time of the request
};

class AttemptFiles {
 public:
  /// @param history path of the history; the files are beside it
  /// @param keeps_weights true if the weights of done attempts are kept
  /// @param note called once for each kind of message
  AttemptFiles(std::filesystem::path history, bool keeps_weights, Recorder::Note note)
      : history_(std::move(history)), keeps_weights_(keeps_weights), note_(std::move(note)) {}

  /// Both functions return the absolute path of a file that the worker writes. weights_of returns "" if weights are not kept.
  std::string output_of(const db::Attempt& attempt) const;
  std::string weights_of(const db::Attempt& attempt) const;

  /// Returns the files of an ended attempt. Removes weights of an attempt that is not done.
  std::vector<db::Artifact> left_by(const AttemptInProgress& ended);

  /// Removes the oldest output files if all together exceed the limit, after an attempt was recorded.
  void limit(const db::Attempt& recorded, Recorder& recorder);

 private:
  void find_output(const AttemptInProgress& ended, std::vector<db::Artifact>& left);
  void find_weights(const AttemptInProgress& ended, std::vector<db::Artifact>& left);
  void note_once(const char* matter, const std::string& text);

  std::filesystem::path history_;
  bool keeps_weights_;
  Recorder::Note note_;
  std::set<std::string> noted_;  ///< kinds of messages already noted
};

}  // namespace ablate
