// Another program, for what it says.
#pragma once

#include <string>
#include <vector>

namespace ablate {

/// How a program ended that was run for what it says.
struct CommandResult {
  int exit_code = -1;  ///< 128 + a signal's number where one ended it; -1: it was not started, or was ended after its time
  std::string out;     ///< at most kMostCommandBytes of it
  std::string why;     ///< what it wrote to stderr, or why it was not started; one line
  bool succeeded() const { return exit_code == 0; }
};

inline constexpr std::size_t kMostCommandBytes = 64'000'000;

/// Runs a program of the PATH without a shell and without input, and waits for its end. What asks this process to stop is left
/// to this process: the program has a group of its own.
/// @param words the program and its arguments; at least one @param limit_s after which it is ended
CommandResult run_command(std::vector<std::string> words, double limit_s = 60);

}  // namespace ablate
