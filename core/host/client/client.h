// The scheduler's side of a worker: a process that has loaded torch and forks one child a job. Torch-free.
//
// Messages are JSON, one a line. To the worker:
//   {"do": "load", "libraries": [path], "hashes": {path: SHA-256}, "tasks": [{"section": {...}, "digest": ..., "files":
//   [...]}], "cuda": bool}
//       load for all later jobs -> "loaded" or "refused"; a library whose content is not what its hash says is refused, and so
//       is a task whose data are not what its digest says, or whose files are not what theirs say (planned_files.h)
//   {"do": "start", "job": N, "kind": "inspect" | "describe-task" | "prepare-task" | "promises" | "try-places" | "open-device"
//    | "check" | "trial", "spec": {...}, "limit_s": seconds}          by the worker's clock; 0 or absent: none
//   {"do": "kill", "job": N}
//   {"do": "ping"}                                    -> "pong"
// From it:
//   {"event": "ready", "environment": {...}, "most_jobs": at a time, "word": what every later line begins with}
//   {"event": "loaded"} | {"event": "pong"}
//   {"event": "refused", "reason": ..., "code": exit code, "spoilt": whether this worker is of no use any more}
//   {"event": "message", "job": N, "data": {...}}     an object that the job has said
//   {"event": "ended", "job": N, "status": wait status, "wall_s": , "cpu_s": , "peak_resident_bytes": , "output": tail,
//    "late": it was ended by its limit, "intrusion": what else was in its channel,
//    "killed": what is known of a signal 9 that the worker has not sent}
//   {"event": "ended", "job": N, "not_started": reason}
// The end of its input, or the death of the scheduler, ends the worker, every job and what these left behind.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/util/error.h"
#include "core/util/memory_kills.h"

namespace ablate {

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
  void send(const nlohmann::json& message);

  /// The next event, or nothing after the time-out. Returns early on a signal. Throws WorkerEnded where the worker is gone.
  std::optional<nlohmann::json> next(int timeout_ms);

  const nlohmann::json& environment() const { return environment_; }
  int most_jobs() const { return most_jobs_; }  ///< at a time, as the limit of descriptors allows
  pid_t pid() const { return pid_; }

  /// Ends a worker that does not answer, and all of its jobs, at once. The next call of next() tells.
  void give_up();

  /// Starts a job; next() tells of it by its number, which is negative: never that of a trial. @param timeout_s 0: none
  int start(const std::string& kind, const nlohmann::json& spec, double timeout_s = 0);

  /// Runs one job to its end. @param timeout_s after which it is ended; 0: none @param heard each of its messages, as they come
  /// @return as JobAnswer::end (core/host/client/job_answer.h). Throws Interrupted where a signal asks to stop: the job still
  /// runs, and ends with the worker.
  nlohmann::json ask(const std::string& kind, const nlohmann::json& spec, double timeout_s = 0,
                     const std::function<void(const nlohmann::json&)>& heard = {});

 private:
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

/// "signal 11 (Segmentation fault)", "exit code 3", "" for a clean end.
std::string reason_of(int wait_status);
/// The same of an "ended" event, with what it says of signal 9.
std::string reason_of_end(const nlohmann::json& ended);

}  // namespace ablate
