// The local executor: a process that has loaded torch and forks one child per job.
#pragma once

#include <memory>

#include "core/host/client/executors.h"
#include "core/util/error.h"

namespace ablate {

inline constexpr const char* kWorker = "ablate-worker";
inline constexpr const char* kChecker = "ablate-checker";  ///< also runs jobs of the kind "check"

/// Thrown if the worker's program is from another build: its file was replaced while this program ran, or was built separately.
struct OtherBuild : Error {
  using Error::Error;
  /// True if no worker of this build has started before. If false, the file was replaced meanwhile, and a new run succeeds.
  bool is_first = true;
};

/// Starts the named program from this program's folder, or $ABLATE_WORKER if set. Waits at most `ready_s` until it is ready.
/// Throws Error (also OtherBuild, or Interrupted of core/util/stop_on_signal.h), and then leaves no process.
std::unique_ptr<Executor> start_worker(const char* program, double ready_s);

/// Starts workers, with a few tries each, because a failure may be temporary: the machine may be short of memory.
Executors local_workers(const char* program = kWorker);

}  // namespace ablate
