// What code of plugins may change in the process that loads it, to be put back before anything else runs there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ablate {

/// The process as it was when this was made. A library built with -ffast-math sets flush-to-zero merely by being loaded, and
/// all that is computed after it has other bits.
class ProcessState {
 public:
  ProcessState();

  /// The floating-point environment and the signals are the default ones (but SIGPIPE is ignored), no alarm is set; folder,
  /// environment variables, locale and file mode mask are what they were. One thread, and between pieces of foreign code.
  void restore() const;

 private:
  std::filesystem::path folder_;
  std::vector<std::string> variables_;
  std::string locale_;
  unsigned mask_;
};

}  // namespace ablate
