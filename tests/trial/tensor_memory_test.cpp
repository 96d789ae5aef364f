#include "core/trial/device/tensor_memory.h"

#include <ATen/ATen.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/catch.h"

using namespace ablate;

TEST_CASE("memory of tensors is counted to the byte, and its peak is reproducible") {
  count_tensor_memory();
  const auto before = tensor_bytes();
  std::int64_t first = 0;
  for (int round = 0; round < 3; ++round) {
    reset_peak_tensor_bytes();
    {
      const auto a = at::empty({1000}, at::kFloat);
      CHECK(tensor_bytes() - before == 4000);
      const auto view = a.slice(0, 10);
      CHECK(tensor_bytes() - before == 4000);
      { const auto b = at::empty({500}, at::kDouble); }
      CHECK(tensor_bytes() - before == 4000);
      CHECK(peak_tensor_bytes() - before == 8000);
      auto c = at::ones({64, 64});
      c = c.matmul(c) + 1;
      CHECK(c.sum().item<float>() == Approx(64 * 64 * 65));
      CHECK(reinterpret_cast<std::uintptr_t>(c.data_ptr()) % 64 == 0);
    }
    CHECK(tensor_bytes() == before);
    if (round == 0) first = peak_tensor_bytes() - before;
    CHECK(peak_tensor_bytes() - before == first);
  }
}

TEST_CASE("freed large blocks are kept for tensors of the same size, and never add to the peak") {
  constexpr std::int64_t kMiB = 1 << 20;
  count_tensor_memory();
  keep_freed_memory();
  const auto resident = [] {
    std::ifstream file("/proc/self/statm");
    std::int64_t all = 0, pages = 0;
    file >> all >> pages;
    return pages * sysconf(_SC_PAGESIZE);
  };
  const auto before = tensor_bytes(), at_start = resident();
  const void* first = nullptr;
  for (int round = 0; round < 3; ++round) {
    const auto tensor = at::ones({40 * kMiB}, at::kByte);
    CHECK(tensor_bytes() - before == 40 * kMiB);
    if (round == 0) first = tensor.const_data_ptr();
    CHECK(tensor.const_data_ptr() == first);
  }
  for (std::int64_t size = 41; size <= 50; ++size) at::ones({size * kMiB}, at::kByte);
  CHECK(tensor_bytes() == before);
  CHECK(resident() - at_start < 60 * kMiB);  // 455 MiB if all blocks were kept
}
