// Exact memory of tensors on the CPU: every allocation of torch's is counted, so a peak is a number that repeats.
#pragma once

#include <cstdint>

namespace ablate {

/// Puts a counting allocator before torch's own; once, before the first tensor. Costs two atomic additions an allocation.
void count_tensor_memory();

/// Bytes that tensors hold now, and at most since the last reset_peak. All threads together.
std::int64_t tensor_bytes();
std::int64_t peak_tensor_bytes();
void reset_peak_tensor_bytes();

}  // namespace ablate
