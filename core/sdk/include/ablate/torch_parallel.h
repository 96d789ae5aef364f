// Runs one call's work on torch's threads.
#pragma once

#include <cstdint>
#include <functional>

namespace ablate {

/// Returns the number of parts for a call: one for each of torch's threads, at most `most`, at least 1.
std::int64_t parts_for_threads(std::int64_t most);

/// Runs f(part) for every part in [0, parts) on torch's threads, and returns when all have ended. Runs all parts on this thread
/// if torch has one thread, or if the caller runs inside a part. Rethrows the exception of one part. A NoGradGuard of this
/// thread does not apply to other threads. (at::parallel_for uses one thread unless compiled for OpenMP. Our code is compiled
/// without OpenMP, which would add a second OpenMP beside LibTorch's.)
void in_parallel(std::int64_t parts, const std::function<void(std::int64_t part)>& f);

}  // namespace ablate
