// The files that attempts leave beside the history: all that one printed, where that is more than the tail that the history
// holds, and its best weights. A convenience: whatever goes wrong with them, no trial fails.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/host/scheduler/attempt_in_progress.h"
#include "core/host/scheduler/recorder.h"

namespace ablate {

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
