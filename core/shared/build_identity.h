// Identity of a program's build. The scheduler and the worker must be of the same build, to agree on messages and numbers.
#pragma once

#include <string>

namespace ablate {

/// Returns a digest of the sources of workers and messages, made at every build. Two builds of one tree have the same identity.
std::string build_identity();

}  // namespace ablate
