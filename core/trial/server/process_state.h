// What code of plugins may change in the process that loads it, to be put back before anything else runs there.
#pragma once

#include <sched.h>
#include <sys/resource.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate {

/// The process as it was when this was made. A library built with -ffast-math sets flush-to-zero merely by being loaded, and
/// all that is computed after it has other bits.
class ProcessState {
 public:
  ProcessState();

  /// The floating-point environment is the default one; folder, environment variables, locale, file mode mask, resource limits,
  /// priority and the processors of this thread are what they were. One thread, and between pieces of foreign code.
  void restore() const;
  /// After restore(): what could not be put back, because only root may: "the limit of open files (ulimit -n) is 64, and was
  /// 1024"; "" where all could. Nothing that this process does from then on is as it was planned.
  std::string lost() const;
  /// The limits and processors that this process has now are what is put back from now on: a job has its own.
  void keep_limits();
  /// Signals do what they do by default, none is blocked, and no alarm is set. But SIGPIPE and SIGXFSZ (a file that may not
  /// grow further is as a disk that is full) are ignored, and so is what asks to stop (stop_signals) where another process
  /// sends it: batch systems send it to all processes at once, and the scheduler's trials are still to be written to disk.
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
