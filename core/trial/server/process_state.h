// Settings of a process that plugin code may change. They are restored before other code runs.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate {

/// State of the process when this object was made. For example, a library built with -ffast-math sets flush-to-zero when it is
/// loaded, and all later results have other bits.
class ProcessState {
 public:
  ProcessState();

  /// Sets the default floating-point environment. Restores folder, environment variables, locale, file mode mask, resource
  /// limits, priority and this thread's processors. Call it on one thread, between pieces of foreign code.
  void restore() const;
  /// Returns a setting that restore() could not restore, because only root may: "the limit of open files (ulimit -n) is 64, and
  /// was 1024"; "" if there is none. After such a loss, nothing in this process is as planned. Call it after restore().
  std::string lost() const;
  /// Stores the current limits and processors for restore(), because each job has its own limits and processors.
  void keep_limits();
  /// Resets signals to their defaults, unblocks all, and clears alarms. Ignores SIGPIPE and SIGXFSZ: a file at its size limit
  /// is then an error like a full disk. Ignores requests to stop (stop_signals) from other processes: batch systems send them
  /// to all processes at once, and the scheduler must still save its trials.
  static void restore_signals();

 private:
  std::filesystem::path folder_;
  std::vector<std::string> variables_;
  std::string locale_;
  unsigned mask_;
  std::array<rlimit, RLIM_NLIMITS> limits_{};
  int priority_;
  cpu_set_t processors_{};
};

}  // namespace ablate
