// Runs a grid of blocks of threads on one core. Blocks run one after the other, and the threads of a block are fibers that run
// from barrier to barrier. Undefined behaviour of CUDA is an error here: a barrier or an exchange that some threads do not
// reach, a read from a lane that takes no part, too much shared memory. Errors are std::runtime_error, thrown by run().
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ablate::shim {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// Position of the running thread.
struct Position {
  Index thread, block, threads, blocks;
};
const Position& position();

/// Order in which blocks, and threads between barriers, take turns. A program without races gives the same bits in any order.
enum class Order { kAscending, kDescending, kShuffled };
void set_order(Order order, std::uint32_t seed = 1);

constexpr std::size_t kMostShared = 48 << 10;  ///< bytes of __shared__ arrays that every device gives a block
constexpr unsigned kLanes = 32;

/// Runs `kernel(of)` for each thread of the grid.
/// @param blocks, threads in dimension x only
/// @param dynamic bytes of dynamic shared memory
void run(std::int64_t blocks, unsigned threads, std::size_t dynamic, void (*kernel)(void*), void* of);

/// Returns the largest number of bytes of shared memory that a block used since the last call.
std::size_t most_shared();

/// Returns the streams of all kernel launches since the last call, each once.
std::vector<void*> streams();
void launched_on(void* stream);  ///< called by launch()

// Functions that kernels call.
/// __syncthreads()
void barrier();
/// Exchanges values between the lanes of `mask` in a warp.
/// @param own [bytes], at most 32
/// @param all [32, bytes], by lane; entries of lanes outside the mask are not changed
void exchange(unsigned mask, const void* own, std::size_t bytes, void* all);
/// Returns shared memory: the n-th call of each thread of a block gives the same memory. Its bytes are 0xff at first (NaN).
void* shared(std::size_t bytes);
void* dynamic_shared();
[[noreturn]] void fail(const char* what);

}  // namespace ablate::shim
