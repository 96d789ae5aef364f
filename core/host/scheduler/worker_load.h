// A worker with everything that waiting trials need, loaded before its first fork.
#pragma once

#include <deque>
#include <functional>

#include "core/host/scheduler/library_watch.h"
#include "core/host/scheduler/plan.h"

namespace ablate {

/// A new worker; tried a few times, since what ended the last one may end the next, as the kernel does where memory is short.
/// Null where asked_to_stop. Throws Error. @param note takes a line for the user
std::unique_ptr<WorkerClient> start_worker(const std::function<void(const std::string&)>& note);

/// So that a trial starts in milliseconds, and runs what was planned: a library or data that changed since then are refused.
/// Remembers the libraries' files in `watch`. Where asked_to_stop, gives the worker up and returns. Throws Error: refused, the
/// worker died of it, or it took longer than limit_s.
void load_worker(WorkerClient& worker, const std::deque<const PlannedTrial*>& waiting, LibraryWatch& watch, double limit_s);

}  // namespace ablate
