// The local executor: a process that has loaded torch and forks one child a job.
#pragma once

#include <memory>

#include "core/host/client/executors.h"

namespace ablate {

inline constexpr const char* kWorker = "ablate-worker";
inline constexpr const char* kChecker = "ablate-checker";  ///< which knows the jobs of the kind "check", too

/// Starts the program of that name in this program's folder ($ABLATE_WORKER names another) and waits until it is ready. Throws
/// Error (Interrupted, of core/util/stop_on_signal.h), and leaves no process then. @param ready_s for it to be ready
std::unique_ptr<Executor> start_worker(const char* program, double ready_s);

/// Such workers, each tried a few times: what ended the last one may end the next, as the kernel does where memory is short.
Executors local_workers(const char* program = kWorker);

}  // namespace ablate
