// Mark by which host and worker find a crash's trace in the output of a trial.
#pragma once

namespace ablate {

/// Beginning of the trace; the signal's number follows.
inline constexpr const char* kCrashTrace = "crashed by signal ";

}  // namespace ablate
