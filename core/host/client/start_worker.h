// The local executor: a process that has loaded torch and forks one child a job.
#pragma once

#include <memory>

#include "core/host/client/executors.h"
#include "core/util/error.h"

namespace ablate {

inline constexpr const char* kWorker = "ablate-worker";
inline constexpr const char* kChecker = "ablate-checker";  ///< which knows the jobs of the kind "check", too

/// The worker's program is of another build than this one: rebuilt or installed while this one runs, or built by itself.
struct OtherBuild : Error {
  using Error::Error;
  bool is_first = true;  ///< else there was one of the same build before, and this program's next start finds the new one
};

/// Starts the program of that name in this program's folder ($ABLATE_WORKER names another) and waits until it is ready. Throws
/// Error (OtherBuild; Interrupted, of core/util/stop_on_signal.h), and leaves no process then. @param ready_s for it to be
/// ready
std::unique_ptr<Executor> start_worker(const char* program, double ready_s);

/// Such workers, each tried a few times: what ended the last one may end the next, as the kernel does where memory is short.
Executors local_workers(const char* program = kWorker);

}  // namespace ablate
