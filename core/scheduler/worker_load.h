// Everything that waiting trials need, loaded into a worker before its first fork.
#pragma once

#include <deque>

#include "core/scheduler/library_watch.h"
#include "core/scheduler/plan.h"

namespace ablate {

/// So that a trial starts in milliseconds, and runs what was planned: a library or data that changed since then are refused.
/// Remembers the libraries' files in `watch`. Where asked_to_stop, gives the worker up and returns. Throws Error: refused, the
/// worker died of it, or it took longer than limit_s.
void load_worker(WorkerClient& worker, const std::deque<const PlannedTrial*>& waiting, LibraryWatch& watch, double limit_s);

}  // namespace ablate
