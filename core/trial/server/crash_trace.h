// Trace of a job that crashes.
#pragma once

#include "core/trial/server/server.h"

namespace ablate {

/// Handles SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT of this process from now on. Prints the innermost frames to stderr, and
/// sends {"crashed": "function in library.so"}: the innermost frame in a plugin, or else the innermost frame. Then the same
/// signal ends the process, after 10 s at the latest, because the crashed code may hold a lock that printing needs. Call it
/// once, in the job's child, on the thread that runs the job. Crashes on other threads are reported, too. Stack overflow is
/// reported on this thread only. Does nothing under sanitizers, which report more.
void trace_crashes(const Say& say);

}  // namespace ablate
