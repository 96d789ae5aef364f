// A grid of blocks of threads on one core: blocks one after the other, a block's threads as fibers that run from barrier to
// barrier. What CUDA leaves undefined is an error here: a barrier or an exchange that not all reach, a lane that is not asked,
// more shared memory than there is. Errors are std::runtime_error, thrown by run().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ablate::shim {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// Of the thread that runs.
struct Position {
  Index thread, block, threads, blocks;
};
const Position& position();

/// In which order blocks, and threads between barriers, take turns. A program without races gives the same bits in any order.
enum class Order { kAscending, kDescending, kShuffled };
void set_order(Order order, std::uint32_t seed = 1);

constexpr std::size_t kMostShared = 48 << 10;  ///< bytes of __shared__ arrays that every device gives a block
constexpr unsigned kLanes = 32;

/// Runs `kernel(of)` for each thread of the grid. @param blocks, threads x alone @param dynamic bytes of dynamic shared memory
void run(std::int64_t blocks, unsigned threads, std::size_t dynamic, void (*kernel)(void*), void* of);

/// The most bytes of shared memory that a block has had since the last call.
std::size_t most_shared();

/// The streams that kernels have been launched on since the last call, each once.
std::vector<void*> streams();
void launched_on(void* stream);  ///< said by launch()

// What kernels call.
/// __syncthreads()
void barrier();
/// The warp's lanes of `mask` show each other what they have. @param own [bytes], at most 32 @param all [32, bytes], by lane;
/// of lanes outside of the mask it stays as it is
void exchange(unsigned mask, const void* own, std::size_t bytes, void* all);
/// The n-th call of each thread of a block gives the same memory, whose bytes are all 0xff at first (as numbers: NaN).
void* shared(std::size_t bytes);
void* dynamic_shared();
[[noreturn]] void fail(const char* what);

}  // namespace ablate::shim
