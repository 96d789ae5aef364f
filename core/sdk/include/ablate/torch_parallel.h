// One call's work on torch's threads.
#pragma once

#include <cstdint>
#include <functional>

namespace ablate {

/// Into how many parts to cut a call: one for each of torch's threads, at most `most`, at least 1.
std::int64_t parts_for_threads(std::int64_t most);

/// Runs f(part) for every part in [0, parts) on torch's threads, and returns when all have ended. Part by part on this thread
/// where torch has one, or where this runs in a part already. What a part throws comes out, of several parts' one. A
/// NoGradGuard of this thread counts on no other. (at::parallel_for runs on one thread where it is not compiled for OpenMP;
/// ours is not, for a second OpenMP beside LibTorch's own would come with it.)
void in_parallel(std::int64_t parts, const std::function<void(std::int64_t part)>& f);

}  // namespace ablate
