#include "ablate/cuda/block.h"

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fiber.h"

// Compiled without the thread sanitizer: this code plays the hardware's part, and its accesses are not accesses of a kernel.
namespace ablate::shim {
namespace {

enum class State { kReady, kBarrier, kExchange, kEnded };

constexpr std::size_t kMostBytes = 32;
constexpr unsigned kMostThreads = 1024;
constexpr int kMostArrays = 16;
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kGuard = 0;  // the address sanitizer watches both ends itself
#else
constexpr std::size_t kGuard = 64;  // bytes at both ends that must not be written, and that read as NaN
#endif

struct Thread {
  std::unique_ptr<Fiber> fiber;
  Position position;
  State state = State::kEnded;
  int arrays = 0;  ///< calls of shared()
  // Fields of an exchange:
  unsigned mask = 0;
  std::size_t bytes = 0;
  alignas(8) unsigned char own[kMostBytes] = {};
  unsigned char* all = nullptr;
};

struct Array {
  unsigned char* data = nullptr;
  std::size_t bytes = 0;
};

struct Machine {
  std::vector<std::unique_ptr<Thread>> threads;  ///< reused from launch to launch; the threads of a block come first
  unsigned count = 0;
  Thread* running = nullptr;
  void (*kernel)(void*) = nullptr;
  void* of = nullptr;
  unsigned waiting = 0;  ///< threads at the barrier
  unsigned met = 0;      ///< number of barriers that all threads reached
  Array arrays[kMostArrays];
  Array dynamic;
  std::size_t most = 0;
  std::vector<void*> streams;
  std::string error;
  Order order = Order::kAscending;
  std::uint32_t random = 1;
  std::vector<std::unique_ptr<Thread>> stuck;  ///< threads inside a kernel that failed, with the memory that they use
  std::vector<Array> of_stuck;
};
Machine& machine = *new Machine;  // never destroyed, because stuck fibers refer to it

// Addresses by which the thread sanitizer learns the order of accesses. `begun`: earlier accesses come before a block's
// accesses. `left`: accesses of an ended or waiting thread come before accesses after the block. `meeting`: accesses before a
// barrier come before accesses after it. `meeting` has two addresses that alternate: with a single address, a thread that
// leaves a barrier late would be ordered after accesses of a thread that is already at the next barrier.
char begun, left, meeting[2];

std::uint32_t drawn() {
  auto& x = machine.random;  // xorshift (Marsaglia 2003)
  x ^= x << 13, x ^= x >> 17, x ^= x << 5;
  return x;
}

std::vector<std::uint32_t> turns(std::size_t count) {
  std::vector<std::uint32_t> order(count);
  for (std::size_t i = 0; i < count; ++i)
    order[i] = static_cast<std::uint32_t>(machine.order == Order::kDescending ? count - 1 - i : i);
  if (machine.order == Order::kShuffled)
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[drawn() % i]);
  return order;
}

void body(void* of) {
  auto& thread = *static_cast<Thread*>(of);
  for (;;) {
    acquire(&begun);
    try {
      machine.kernel(machine.of);
    } catch (const std::exception& error) {
      if (machine.error.empty()) machine.error = error.what();
    }
    release(&left);
    thread.state = State::kEnded;
    thread.fiber->leave(false);
  }
}

void wait(State state) {
  auto& self = *machine.running;
  self.state = state;
  release(&left);
  self.fiber->leave(false);  // resumed when it is ready
}

Array made(std::size_t bytes) {
  auto* const data = static_cast<unsigned char*>(operator new (bytes + 2 * kGuard, std::align_val_t{16}));
  for (std::size_t i = 0; i < bytes + 2 * kGuard; ++i) data[i] = 0xff;
  return {data + kGuard, bytes};
}

/// Frees an array at a block's end, or keeps it for stuck threads if the kernel failed.
void put_away(Array& array) {
  if (array.data == nullptr) return;
  if (!machine.error.empty()) {
    machine.of_stuck.push_back(array);
    array = {};
    return;
  }
  for (std::size_t i = 0; i < kGuard; ++i)
    if ((array.data[-1 - static_cast<std::ptrdiff_t>(i)] & array.data[array.bytes + i]) != 0xff && machine.error.empty())
      machine.error = "block " + std::to_string(machine.threads[0]->position.block.x) + " wrote outside of a shared array of " +
                      std::to_string(array.bytes) + " bytes";
  operator delete (array.data - kGuard, std::align_val_t{16});
  array = {};
}

/// Copies by volatile accesses, so that the compiler never calls memcpy, which the thread sanitizer would see.
template <class Piece>
void copy_by(void* to, const void* from, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes / sizeof(Piece); ++i)
    static_cast<volatile Piece*>(to)[i] = static_cast<const volatile Piece*>(from)[i];
}
void copy(void* to, const void* from, std::size_t bytes) {
  const bool words = bytes % sizeof(std::uint32_t) == 0;  // then all addresses are aligned to words
  words ? copy_by<std::uint32_t>(to, from, bytes) : copy_by<unsigned char>(to, from, bytes);
}

/// Describes the states of the threads, for a block in which no thread can run.
std::string what_is_waited_for() {
  unsigned ended = 0, exchanging = 0;
  for (unsigned i = 0; i < machine.count; ++i) {
    ended += machine.threads[i]->state == State::kEnded;
    exchanging += machine.threads[i]->state == State::kExchange;
  }
  return "block " + std::to_string(machine.threads[0]->position.block.x) + " is stuck: of " + std::to_string(machine.count) +
         " threads " + std::to_string(machine.waiting) + " wait at a barrier, " + std::to_string(exchanging) +
         " at an exchange of lanes, and " + std::to_string(ended) + " have ended";
}

void run_block(std::uint32_t block, std::size_t dynamic) {
  machine.waiting = 0;
  machine.dynamic = made(dynamic);
  for (unsigned i = 0; i < machine.count; ++i) {
    auto& thread = *machine.threads[i];
    thread.position.block = {block, 0, 0};
    thread.state = State::kReady;
    thread.arrays = 0;
  }
  release(&begun);
  for (bool moved = true; moved && machine.error.empty();) {
    moved = false;
    for (const auto i : turns(machine.count)) {
      auto& thread = *machine.threads[i];
      if (thread.state != State::kReady) continue;
      machine.running = &thread;
      thread.fiber->resume();
      moved = true;
      if (!machine.error.empty()) break;
    }
  }
  acquire(&left);
  for (unsigned i = 0; i < machine.count && machine.error.empty(); ++i)
    if (machine.threads[i]->state != State::kEnded) machine.error = what_is_waited_for();
  std::size_t bytes = dynamic;
  for (auto* array = machine.arrays; array != machine.arrays + kMostArrays; ++array) bytes += array->bytes, put_away(*array);
  put_away(machine.dynamic);
  machine.most = std::max(machine.most, bytes);
  if (bytes - dynamic > kMostShared && machine.error.empty())
    machine.error = "found " + std::to_string(bytes - dynamic) + " bytes of shared arrays, expected at most 49152";
}

}  // namespace

const Position& position() { return machine.running->position; }

void set_order(Order order, std::uint32_t seed) { machine.order = order, machine.random = seed; }

std::size_t most_shared() {
  const auto most = machine.most;
  machine.most = 0;
  return most;
}

std::vector<void*> streams() { return std::exchange(machine.streams, {}); }

void launched_on(void* stream) {
  auto& all = machine.streams;
  if (std::find(all.begin(), all.end(), stream) == all.end()) all.push_back(stream);
}

void run(std::int64_t blocks, unsigned threads, std::size_t dynamic, void (*kernel)(void*), void* of) {
  if (threads == 0 || threads > kMostThreads || blocks > INT32_MAX)
    throw std::runtime_error("a launch of " + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads");
  while (machine.threads.size() < threads) {
    machine.threads.push_back(std::make_unique<Thread>());
    auto& thread = *machine.threads.back();
    thread.fiber = std::make_unique<Fiber>(body, &thread);
  }
  machine.count = threads, machine.kernel = kernel, machine.of = of, machine.error.clear();
  for (unsigned i = 0; i < threads; ++i)
    machine.threads[i]->position = {{i, 0, 0}, {}, {threads, 1, 1}, {static_cast<unsigned>(blocks), 1, 1}};
  for (const auto block : turns(static_cast<std::size_t>(blocks))) {
    run_block(block, dynamic);
    if (machine.error.empty()) continue;
    for (auto& thread : machine.threads) machine.stuck.push_back(std::move(thread));
    machine.threads.clear();
    throw std::runtime_error(machine.error);
  }
}

void barrier() {
  auto* const at = &meeting[machine.met % 2];
  release(at);
  if (++machine.waiting < machine.count) {
    wait(State::kBarrier);
  } else {
    machine.waiting = 0;
    ++machine.met;
    for (unsigned i = 0; i < machine.count; ++i) machine.threads[i]->state = State::kReady;
  }
  acquire(at);
}

void exchange(unsigned mask, const void* own, std::size_t bytes, void* all) {
  auto& self = *machine.running;
  const auto first = self.position.thread.x / kLanes * kLanes;
  if ((mask >> (self.position.thread.x - first) & 1) == 0) fail("a lane is not in the mask of its own exchange");
  if (bytes > kMostBytes) fail("an exchange of more than 32 bytes a lane");
  copy(self.own, own, bytes);
  self.mask = mask, self.bytes = bytes, self.all = static_cast<unsigned char*>(all);
  self.state = State::kExchange;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    if (first + lane >= machine.count) fail("an exchange with a lane that the block does not have");
    const auto& other = *machine.threads[first + lane];
    if (other.state != State::kExchange) return wait(State::kExchange);
    if (other.mask != mask || other.bytes != bytes) fail("lanes of an exchange have different masks or sizes");
  }
  for (unsigned to = 0; to < kLanes; ++to) {
    if ((mask >> to & 1) == 0) continue;
    auto& other = *machine.threads[first + to];
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (mask >> lane & 1) copy(other.all + lane * bytes, machine.threads[first + lane]->own, bytes);
    other.state = State::kReady;
  }
}

void* shared(std::size_t bytes) {
  auto& self = *machine.running;
  if (self.arrays == kMostArrays) fail("more than 16 shared arrays");
  auto& array = machine.arrays[self.arrays++];
  if (array.data == nullptr) {
    array = made(bytes);
    release(&array);
  }
  if (array.bytes != bytes) fail("threads of a block disagree about their shared arrays");
  acquire(&array);
  return array.data;
}

void* dynamic_shared() { return machine.dynamic.data; }

void fail(const char* what) {
  throw std::runtime_error("block " + std::to_string(position().block.x) + ", thread " + std::to_string(position().thread.x) +
                           ": " + what);
}

}  // namespace ablate::shim
