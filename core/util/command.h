// Runs another program for its output.
#pragma once

#include <string>
#include <vector>

namespace ablate {

/// Result of a program that was run for its output.
struct CommandResult {
  int exit_code = -1;  ///< 128 + the signal's number if a signal ended the program; -1: not started, or killed at the limit
  std::string out;     ///< standard output, at most kMostCommandBytes
  std::string why;     ///< standard error, or why there is no result; one line
  bool succeeded() const { return exit_code == 0; }
};

inline constexpr std::size_t kMostCommandBytes = 64'000'000;

/// Runs a program of the PATH without a shell and without input, and waits for its end. The program is in its own process
/// group, so a stop signal of the terminal reaches this process only.
/// @param words the program and its arguments; at least one
/// @param limit_s seconds after which the program is killed
CommandResult run_command(std::vector<std::string> words, double limit_s = 60);

}  // namespace ablate
