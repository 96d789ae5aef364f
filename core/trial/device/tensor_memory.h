// Exact memory of tensors on the CPU: every allocation of torch's is counted, so a peak is a number that repeats.
#pragma once

#include <cstdint>

namespace ablate {

/// Puts a counting allocator before torch's own; once, before the first tensor. Costs two atomic additions an allocation.
void count_tensor_memory();

/// Freed memory stays with the process, for tensors of the same size to come; with count_tensor_memory. Given back, it returns
/// page by page, zeroed by the kernel: tensors above 32 MiB, which malloc always gives back, would pay for that at every use,
/// and a time would jump with the length. What is kept and what is held are together at most the most that was ever held.
void keep_freed_memory();

/// Bytes that tensors hold now, and at most since the last reset_peak. All threads together.
std::int64_t tensor_bytes();
std::int64_t peak_tensor_bytes();
void reset_peak_tensor_bytes();

}  // namespace ablate
