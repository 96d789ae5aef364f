// The scheduler's side of a worker: a process that has loaded torch and forks one child a job. Torch-free.
//
// Messages are those of core/shared/pipe.h, one a line; each that comes from the worker begins with its word
// (ReadyEvent). The end of its input, or the death of the scheduler, ends the worker, every job and what these left behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/client/job_outcome.h"
#include "core/shared/pipe.h"
#include "core/util/error.h"
#include "core/util/memory_kills.h"

namespace ablate {

/// What became of a question: an answer, or why there is none.
template <class Answer>
struct Answered {
  std::optional<Answer> answer;
  std::string failed;  ///< failure_text; "" where there is an answer
  bool fault = false;  ///< whether that is a plugin's
  bool late = false;   ///< it did not end in time
};

class WorkerClient {
 public:
  static constexpr const char* kWorker = "ablate-worker";
  static constexpr const char* kChecker = "ablate-checker";  ///< which knows the jobs of the kind "check", too

  /// Starts it from this program's folder and waits until it is ready. Throws Error (WorkerMissing; Interrupted, of
  /// core/util/stop_on_signal.h), and leaves no process then.
  explicit WorkerClient(const char* program = kWorker, double ready_s = 120);
  /// Ends it, its jobs, and what these left behind: every child that this process did not have before.
  ~WorkerClient();
  WorkerClient(const WorkerClient&) = delete;
  WorkerClient& operator=(const WorkerClient&) = delete;

  /// Never waits: what a worker does not take yet is kept, and handed on by next().
  void send(const Command& command);

  /// The next event, or nothing after the time-out. Returns early on a signal. Throws WorkerEnded where the worker is
  /// gone.
  std::optional<Event> next(int timeout_ms);

  const nlohmann::json& environment() const { return environment_; }
  int most_jobs() const { return most_jobs_; }  ///< at a time, as the limit of descriptors allows
  pid_t pid() const { return pid_; }

  /// Ends a worker that does not answer, and all of its jobs, at once. The next call of next() tells.
  void give_up();

  /// Starts a job; next() tells of it by its number, which is negative: never that of a trial. @param timeout_s 0: none
  template <class Job>
  int start(const Job& job, double timeout_s = 0) {
    send(StartCommand{--last_job_, Job::kName, to_json(job), timeout_s});
    return last_job_;
  }

  /// Runs one job to its end. @param timeout_s after which it is ended; 0: none. Throws Interrupted where a signal asks to
  /// stop: the job still runs, and ends with the worker.
  template <class Job>
  Answered<typename Job::Answer> ask(const Job& job, double timeout_s = 0) {
    const auto [last, outcome, failed] = wait_for(start(job, timeout_s), timeout_s);
    Answered<typename Job::Answer> answered{.failed = failed, .fault = outcome.fault, .late = outcome.late()};
    if (outcome.done()) answered.answer = from_json<typename Job::Answer>(last);
    return answered;
  }

 private:
  struct Reply {
    nlohmann::json last;  ///< the job's last own message
    JobOutcome outcome;
    std::string failed;  ///< failure_text
  };
  Reply wait_for(int job, double timeout_s);

  /// Waits for the process, which has closed its side or is to; kills it after a while. @return reason_of(its end)
  std::string end();

  void flush();

  std::set<pid_t> not_ours_;  ///< children that this process had before
  pid_t pid_ = -1;
  bool given_up_ = false;
  MemoryState memory_;  ///< when it started
  int to_ = -1, from_ = -1;
  std::string word_;  ///< that the worker's messages begin with, once it is ready
  std::string unsent_, buffer_;
  nlohmann::json environment_;
  int most_jobs_ = 1;
  int last_job_ = 0;
};

/// There is no such program, or it may not be run: another try is of no use.
struct WorkerMissing : Error {
  using Error::Error;
};

/// The worker itself died: a fault of a library that was loaded for all jobs, or somebody's kill.
struct WorkerEnded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ablate
