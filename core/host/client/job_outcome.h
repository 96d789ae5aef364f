// What one job of a worker says of itself until it ends, and how it ended: the one place that tells. Torch-free.
#pragma once

#include <optional>
#include <string>

#include "core/shared/pipe.h"

namespace ablate {

struct JobOutcome {
  enum class How {
    kDone,        ///< it gave its answer, and its process ended by itself
    kThrew,       ///< it said why
    kNotStarted,  ///< there was no process or descriptor for it
    kIntruded,    ///< it wrote into the channel that the host keeps
    kLate,        ///< it was ended by its limit
    kCrashed,     ///< a signal or an exit code, without a word of its own
    kSilent,      ///< it ended by itself, without an answer
    kLost         ///< the worker died, and the job with it
  };
  How how = How::kDone;
  std::string why;     ///< in its own words, or "signal 11 (Segmentation fault) in f() in x.so"; "" of kDone, kLate, kSilent
  std::string signal;  ///< of kThrew: what ended its process after that, "signal 6 (Aborted)"; "" for an exit
  bool fault = false;  ///< whether it is a plugin's: a crash, a hang, an answer that cannot be
  std::string output = {};  ///< the tail of what it printed

  bool done() const { return how == How::kDone; }
  bool late() const { return how == How::kLate; }
};

class HeardOfJob {
 public:
  /// @param data of a SaidEvent @return whether it is the job's own message; what any job may say is kept here
  bool take(const nlohmann::json& data);
  /// It has said what it was asked for.
  void answered() { answered_ = true; }
  /// What it has said is none of its messages.
  void refuse(const std::string& why) { failed_ = Failed{why, true}; }

  /// @param ended an EndedEvent or a NotStartedEvent; nothing of another
  std::optional<JobOutcome> end(const Event& ended) const;
  static JobOutcome lost(const std::string& why) { return {JobOutcome::How::kLost, why, "", true}; }

 private:
  JobOutcome end_of(const EndedEvent& ended) const;

  bool answered_ = false;
  std::optional<Failed> failed_;
  std::string crashed_;  ///< where
};

/// Why a job that was asked something has no answer; "" where it has. @param timeout_s what it was given
std::string failure_text(const JobOutcome& outcome, double timeout_s);

/// "signal 11 (Segmentation fault)", "exit code 3", "" for a clean end.
std::string reason_of(int wait_status);

}  // namespace ablate
