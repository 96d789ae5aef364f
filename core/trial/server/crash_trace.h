// What a job that crashes says of itself.
#pragma once

#include "core/trial/server/server.h"

namespace ablate {

/// From now on a SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT of this process, a stack that overflows included, prints the
/// innermost frames to stderr and says {"crashed": "function in library.so"}: the innermost frame that lies in a plugin, or
/// else the innermost. Then the same signal ends the process, after 10 s at the latest: what crashed may hold a lock that
/// printing needs. In the job's child, once, on the thread that runs the job; a crash on another thread is told as well, its
/// overflown stack is not. Does nothing under sanitizers, which tell more.
void trace_crashes(const Say& say);

}  // namespace ablate
