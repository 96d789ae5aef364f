#include "core/trial/device/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>

namespace ablate {
namespace {

std::atomic<std::int64_t> current{0}, peak{0};

/// torch aligns to 64 bytes. The size is stored in front of the data, where release() reads it.
constexpr std::size_t kHeader = 64;

void add(std::int64_t bytes) {
  const auto now = current.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  auto highest = peak.load(std::memory_order_relaxed);
  while (now > highest && !peak.compare_exchange_weak(highest, now, std::memory_order_relaxed)) {
  }
}

/// Freed blocks of kLarge bytes and more, by size.
class FreedBlocks {
 public:
  void* take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    if (const auto found = blocks_.find(size); found != blocks_.end()) {
      auto* block = found->second;
      blocks_.erase(found);
      bytes_ -= size;
      return block;
    }
    // Makes room for the new block, so that stored blocks of old sizes do not raise the peak.
    while (!blocks_.empty() && current.load() + static_cast<std::int64_t>(bytes_ + size) > highest_) drop(blocks_.begin());
    highest_ = std::max(highest_, current.load() + static_cast<std::int64_t>(bytes_ + size));
    return nullptr;
  }
  void put(std::size_t size, void* block) {
    const std::lock_guard lock(mutex_);
    blocks_.emplace(size, block);
    bytes_ += size;
  }

 private:
  void drop(std::multimap<std::size_t, void*>::iterator block) {
    bytes_ -= block->first;
    c10::free_cpu(block->second);
    blocks_.erase(block);
  }

  std::mutex mutex_;
  std::multimap<std::size_t, void*> blocks_;
  std::size_t bytes_ = 0;
  std::int64_t highest_ = 0;
};

constexpr std::size_t kLarge = 32 << 20;  // glibc's largest mmap threshold (DEFAULT_MMAP_THRESHOLD_MAX)
std::atomic<bool> keeping{false};

FreedBlocks& freed_blocks() {
  static auto* const blocks = new FreedBlocks;  // leaked: static tensors are freed after our destructors
  return *blocks;
}

void release(void* data) {
  if (data == nullptr) return;
  auto* start = static_cast<char*>(data) - kHeader;
  std::size_t size = 0;
  std::memcpy(&size, start, sizeof(size));
  current.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
  if (size >= kLarge && keeping)
    freed_blocks().put(size, start);
  else
    c10::free_cpu(start);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    const c10::Device device(c10::DeviceType::CPU);
    if (size == 0) return {nullptr, nullptr, &release, device};
    auto* start = size >= kLarge && keeping ? static_cast<char*>(freed_blocks().take(size)) : nullptr;
    if (start == nullptr) start = static_cast<char*>(c10::alloc_cpu(size + kHeader));
    std::memcpy(start, &size, sizeof(size));
    add(static_cast<std::int64_t>(size));
    return {start + kHeader, start + kHeader, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t size) const override { std::memcpy(to, from, size); }
};

}  // namespace

void count_tensor_memory() {
  static CountingAllocator allocator;
  c10::SetAllocator(c10::DeviceType::CPU, &allocator, /*priority=*/1);
}

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLarge));
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  keeping = true;
}

std::int64_t tensor_bytes() { return current.load(std::memory_order_relaxed); }
std::int64_t peak_tensor_bytes() { return peak.load(std::memory_order_relaxed); }
void reset_peak_tensor_bytes() { peak.store(current.load(std::memory_order_relaxed), std::memory_order_relaxed); }

}  // namespace ablate
