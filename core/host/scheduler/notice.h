// --notify: what is told of a grid to those who do not watch it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace ablate {

struct Notice {
  const char* event = "";  ///< "failure": the first; "rescue": the history had to go elsewhere; "end"
  int done = 0, failed = 0, skipped = 0, set_aside = 0;  ///< trials, so far
  int elsewhere = 0, not_started = 0;                    ///< as RunSummary has them
  std::string reason;              ///< of the failure, of the rescue, or why not all trials came to their end; else ""
  std::filesystem::path database;  ///< where results are
};

/// Runs a shell's command line for each notice, which the environment tells: ABLATE_EVENT, ABLATE_EXPERIMENT, ABLATE_DONE,
/// ABLATE_FAILED, ABLATE_SKIPPED, ABLATE_SET_ASIDE, ABLATE_ELSEWHERE, ABLATE_NOT_STARTED, ABLATE_REASON, ABLATE_DATABASE.
/// Nobody waits for it: it has a session of its own, no input and no output, and is ended after 30 s. One thread.
class Notifier {
 public:
  /// @param note told once of a command that could not be started or has failed
  Notifier(std::string command, std::string experiment, std::function<void(const std::string&)> note, int limit_s = 30)
      : command_(std::move(command)), experiment_(std::move(experiment)), note_(std::move(note)), limit_s_(limit_s) {}
  /// Waits a moment for the last commands, so that one that fails at once is reported.
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  void tell(const Notice& notice);

 private:
  void look_at_earlier();

  std::string command_, experiment_;
  std::function<void(const std::string&)> note_;
  int limit_s_;
  bool has_complained_ = false;
  std::vector<pid_t> running_;
};

}  // namespace ablate
