// The host's side of a worker: a process that has loaded torch and forks one child a job. Named in this folder alone;
// start_worker.h makes it for others.
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

#include "core/host/client/executor.h"
#include "core/util/error.h"
#include "core/util/memory_kills.h"
#include "core/util/outbox.h"

namespace ablate {

class WorkerClient final : public Executor {
 public:
  /// Starts it from this program's folder and waits until it is ready. Throws Error (WorkerMissing; Interrupted, of
  /// core/util/stop_on_signal.h), and leaves no process then.
  WorkerClient(const char* program, double ready_s);
  /// Ends it, its jobs, and what these left behind: every child that this process did not have before.
  ~WorkerClient() override;

  /// What a worker does not take yet is kept, and handed on by next().
  void send(const Command& command) override;
  /// Returns early on a signal.
  std::optional<Event> next(int timeout_ms) override;
  const nlohmann::json& environment() const override { return environment_; }
  int most_jobs() const override { return most_jobs_; }  ///< as the limit of descriptors allows
  std::int64_t process() const override { return pid_; }
  void give_up() override;

 private:
  /// Waits for the process, which has closed its side or is to; kills it after a while. @return reason_of(its end)
  std::string end();

  std::set<pid_t> not_ours_;  ///< children that this process had before
  pid_t pid_ = -1;
  bool given_up_ = false;
  MemoryState memory_;  ///< when it started
  int to_ = -1, from_ = -1;
  std::string word_;  ///< that the worker's messages begin with, once it is ready
  Outbox unsent_;
  std::string buffer_;
  nlohmann::json environment_;
  int most_jobs_ = 1;
};

/// There is no such program, or it may not be run: another try is of no use.
struct WorkerMissing : Error {
  using Error::Error;
};

}  // namespace ablate
