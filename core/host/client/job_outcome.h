// Decides how a worker's job ended, from the job's messages and its process's exit. No other file decides this. Torch-free.
#pragma once

#include <optional>
#include <string>

#include "core/shared/pipe.h"

namespace ablate {

struct JobOutcome {
  enum class How {
    kDone,        ///< the job sent its answer, and its process exited normally
    kThrew,       ///< the job reported why it failed
    kNotStarted,  ///< the worker had no process or descriptor left for the job
    kIntruded,    ///< the job wrote into the host's own channel
    kLate,        ///< the job's time limit ended it
    kCrashed,     ///< the job ended by a signal or an exit code, without a message
    kKilled,      ///< a signal from outside ended the job: from the kernel's memory killer, a user, or a batch system
    kSilent,      ///< the job exited without an answer
    kLost         ///< the worker died, and the job with it
  };
  How how = How::kDone;
  std::string why;     ///< the job's message, or "signal 11 (Segmentation fault) in f() in x.so"; "" for kDone, kLate, kSilent
  std::string signal;  ///< signal that ended the job after kThrew, "signal 6 (Aborted)"; "" for an exit
  bool fault = false;  ///< true if a plugin is at fault: a crash, a hang, an impossible answer
  std::string output = {};        ///< the end of the job's output
  bool of_memory = false;         ///< true if memory ran out: a limit, the kernel's killer or the job's message shows it
  double cpu_s = 0;               ///< processor time; 0 if it is not known
  bool was_refused_host = false;  ///< true if a kThrew job reported that the host's memory did not suffice, and exited

  bool done() const { return how == How::kDone; }
  bool late() const { return how == How::kLate; }
  /// True if probably no plugin caused the end: another try may end differently.
  bool broken_off() const { return how == How::kKilled || how == How::kLost || how == How::kNotStarted; }
};

class HeardOfJob {
 public:
  /// Stores a message about a failure or a crash, and returns false. Returns true for others: the caller must read them.
  bool take(const nlohmann::json& data);
  /// Records that the job has sent its answer.
  void answered() { answered_ = true; }
  /// Records that the job sent a message of a wrong kind.
  void refuse(const std::string& why) { failed_ = Failed{why, true}; }

  /// Returns the outcome, for an EndedEvent or a NotStartedEvent. Returns nullopt for any other event.
  std::optional<JobOutcome> end(const Event& ended) const;
  static JobOutcome lost(const std::string& why) { return {JobOutcome::How::kLost, why, "", false}; }

 private:
  JobOutcome end_of(const EndedEvent& ended) const;

  bool answered_ = false;
  std::optional<Failed> failed_;
  std::string crashed_;  ///< place of the crash
};

/// Returns why a job with this time limit has no answer, or "" if it has one.
std::string failure_text(const JobOutcome& outcome, double timeout_s);

/// Returns "signal 11 (Segmentation fault)", "exit code 3", or "" for a clean end.
std::string reason_of(int wait_status);

}  // namespace ablate
