// Identifies the build of a program. The scheduler and the worker must come from the same build: it fixes messages and numbers.
#pragma once

#include <string>

namespace ablate {

/// Returns a digest of the sources of workers and messages, made at every build. Two builds of one tree have the same identity.
std::string build_identity();

}  // namespace ablate
