// How one job of a worker ended, by what it said until then. Only this file decides that. Torch-free.
#pragma once

#include <optional>
#include <string>

#include "core/shared/pipe.h"

namespace ablate {

struct JobOutcome {
  enum class How {
    kDone,        ///< it gave its answer, and its process ended by itself
    kThrew,       ///< it said why it failed
    kNotStarted,  ///< no process or descriptor was left for it
    kIntruded,    ///< it wrote into the host's own channel
    kLate,        ///< its time limit ended it
    kCrashed,     ///< a signal or an exit code, without a word of its own
    kKilled,      ///< a signal that others send: the kernel's memory killer, a user, a batch system
    kSilent,      ///< it ended by itself, without an answer
    kLost         ///< the worker died, and the job with it
  };
  How how = How::kDone;
  std::string why;     ///< in its own words, or "signal 11 (Segmentation fault) in f() in x.so"; "" of kDone, kLate, kSilent
  std::string signal;  ///< of kThrew: what ended its process after that, "signal 6 (Aborted)"; "" for an exit
  bool fault = false;  ///< whether it is a plugin's: a crash, a hang, an answer that cannot be
  std::string output = {};        ///< the tail of what it printed
  bool of_memory = false;         ///< memory did not suffice: the kernel's killer or a limit ended it, or it said so itself
  double cpu_s = 0;               ///< processor time; 0 if it is not known
  bool was_refused_host = false;  ///< of kThrew: it asked for more of the host's memory than it got, and ended by itself

  bool done() const { return how == How::kDone; }
  bool late() const { return how == How::kLate; }
  /// Whether it was broken off by what no plugin has done, as far as anyone can tell: another try may end otherwise.
  bool broken_off() const { return how == How::kKilled || how == How::kLost || how == How::kNotStarted; }
};

class HeardOfJob {
 public:
  /// Keeps what any job may say. @param data of a SaidEvent @return whether it is a message of this job's own kind
  bool take(const nlohmann::json& data);
  /// The job has given its answer.
  void answered() { answered_ = true; }
  /// The job has sent what is none of its messages.
  void refuse(const std::string& why) { failed_ = Failed{why, true}; }

  /// @param ended an EndedEvent or a NotStartedEvent; nothing of another
  std::optional<JobOutcome> end(const Event& ended) const;
  static JobOutcome lost(const std::string& why) { return {JobOutcome::How::kLost, why, "", false}; }

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
