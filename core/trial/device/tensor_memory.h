// Exact memory of tensors on the CPU. Every allocation by torch is counted, so a peak is reproducible.
#pragma once

#include <cstdint>

namespace ablate {

/// Puts a counting allocator before torch's own. Call it once, before any tensor. An allocation costs two atomic additions.
void count_tensor_memory();

/// Stores freed memory for later tensors of the same size. Call it after count_tensor_memory. By default, malloc returns blocks
/// above 32 MiB to the kernel, which zeroes each page at the next use, so times would jump at this size. Stored and used bytes
/// together never exceed the highest use so far.
void keep_freed_memory();

/// Bytes of all tensors now, and their peak since the last reset. Counts all threads together.
std::int64_t tensor_bytes();
std::int64_t peak_tensor_bytes();
void reset_peak_tensor_bytes();

}  // namespace ablate
