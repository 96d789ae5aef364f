// The only exception class of the host, thrown if an operation cannot go on. It has the exit code of the process.
#pragma once

#include <stdexcept>
#include <string>

namespace ablate {

enum class ExitCode : int {
  kDone = 0,
  kTrialsFailed = 1,
  kUsage = 2,   ///< usage or configuration
  kPlugin = 3,  ///< a plugin that the user named cannot be loaded
  kAgain = 75,  ///< a share was stopped and should be run again (EX_TEMPFAIL of sysexits.h)
  kInterrupted = 130,
};

/// what() contains the found value, the expected value, the position (such as file and line), and the remedy.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::kUsage) : std::runtime_error(message), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

}  // namespace ablate
