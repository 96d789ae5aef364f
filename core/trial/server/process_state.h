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

  /// The floating-point environment is the default one; folder, environment variables, locale and file mode mask are what they
  /// were. One thread, and between pieces of foreign code.
  void restore() const;
  /// Signals do what they do by default, but SIGPIPE is ignored; none is blocked, and no alarm is set.
  static void restore_signals();

 private:
  std::filesystem::path folder_;
  std::vector<std::string> variables_;
  std::string locale_;
  unsigned mask_;
};

}  // namespace ablate
