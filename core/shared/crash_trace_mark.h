// How host and worker know a crash's trace in what a trial printed.
#pragma once

namespace ablate {

/// What the trace begins with; the signal's number follows.
inline constexpr const char* kCrashTrace = "crashed by signal ";

}  // namespace ablate
