// A forked child that runs one job, as the worker sees it.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/trial/server/kept_output.h"
#include "core/trial/server/memory_watch.h"
#include "core/trial/server/save_request.h"
#include "core/trial/server/server.h"
#include "core/util/memory_kills.h"

namespace ablate {

/// One that nobody guesses.
std::string secret_word();

/// What a job may take, as StartCommand has it.
struct JobLimits {
  double time_s = 0;
  std::int64_t memory_bytes = 0;
  std::vector<int> processors = {};
};

/// The pipe that a job's messages come through is open in the child, where code of plugins runs. So each line begins with a
/// word that only the two ends know; a line without it, or one without end, is none of the host's, and ends the job.
class JobProcess {
 public:
  /// Forks. In the child calls prepare, runs and ends the process. @param output_file StartCommand's
  /// Throws std::system_error where there is no process or no descriptor to be had; nothing is left over then.
  JobProcess(const JobLimits& limits, const std::string& output_file, const std::function<void()>& prepare,
             const std::function<void(const Say&)>& run);
  /// Kills what still runs.
  ~JobProcess();
  JobProcess(const JobProcess&) = delete;
  JobProcess& operator=(const JobProcess&) = delete;

  pid_t pid() const { return pid_; }

  /// What is still open, to wait for. @param hears also its messages
  void wait_for(std::vector<pollfd>& descriptors, bool hears) const;
  /// In the parent's other children: nothing of this one stays open.
  void close_in_child() const;

  /// Reads what is there. @param hears also its messages @return whole messages, in order
  std::vector<nlohmann::json> read(bool hears);

  bool has_ended() const;

  /// Milliseconds until something of it is to be looked at: its time, or its memory.
  int milliseconds_left() const;
  /// Looks at its memory where it is time to, and ends it where it has too much. @return bytes, where they have changed
  std::optional<std::int64_t> look_at_size();
  /// Ends it where its time is over. A job that has ended by itself is never late.
  void end_if_late();
  /// The worker itself was stopped for so long: no fault of the job.
  void forgive(std::chrono::steady_clock::duration stopped) { limit_ += stopped; }
  void kill();
  void ask_to_save() { save_.ask(); }

  /// Waits for its end. @param left_behind called when it is gone, before the rest of its output is read
  /// @param last takes its last messages
  /// @return how it ended; its number is the caller's to say
  EndedEvent end(const std::function<void()>& left_behind, std::vector<nlohmann::json>& last);

 private:
  using Clock = std::chrono::steady_clock;

  pid_t pid_ = -1;
  int handle_ = -1;  ///< a pidfd: readable when the child has ended
  int messages_ = -1, output_ = -1;
  std::string word_, unread_, intrusion_;
  KeptOutput printed_;
  SaveRequest save_;
  Clock::time_point start_, limit_;
  bool limited_ = false, late_ = false, killed_ = false;
  MemoryState memory_;  ///< when it started
  double log_s_ = since_start_s();
  MemoryWatch watch_;
};

}  // namespace ablate
