#include "core/runtime/tensor_memory.h"

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <atomic>
#include <cstring>

namespace ablate {
namespace {

std::atomic<std::int64_t> current{0}, peak{0};

/// torch aligns to 64 bytes; the size stands in front of the data, so that freeing knows it.
constexpr std::size_t kHeader = 64;

void add(std::int64_t bytes) {
  const auto now = current.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  auto highest = peak.load(std::memory_order_relaxed);
  while (now > highest && !peak.compare_exchange_weak(highest, now, std::memory_order_relaxed)) {
  }
}

void release(void* data) {
  if (data == nullptr) return;
  auto* start = static_cast<char*>(data) - kHeader;
  std::size_t size = 0;
  std::memcpy(&size, start, sizeof(size));
  current.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
  c10::free_cpu(start);
}

class CountingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t size) override {
    const c10::Device device(c10::DeviceType::CPU);
    if (size == 0) return {nullptr, nullptr, &release, device};
    auto* start = static_cast<char*>(c10::alloc_cpu(size + kHeader));
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

std::int64_t tensor_bytes() { return current.load(std::memory_order_relaxed); }
std::int64_t peak_tensor_bytes() { return peak.load(std::memory_order_relaxed); }
void reset_peak_tensor_bytes() { peak.store(current.load(std::memory_order_relaxed), std::memory_order_relaxed); }

}  // namespace ablate
