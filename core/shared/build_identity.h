// Which build of ablate a program is of: scheduler and worker speak to each other, and record numbers, as one build does.
#pragma once

#include <string>

namespace ablate {

/// Another one where a source of workers or of messages is another: a digest made at every build. The same for two builds of
/// one tree.
std::string build_identity();

}  // namespace ablate
