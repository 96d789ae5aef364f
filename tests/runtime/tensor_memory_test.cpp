#include "core/runtime/tensor_memory.h"

#include <ATen/ATen.h>

#include "tests/support/catch.h"

using namespace ablate;

TEST_CASE("memory of tensors is counted to the byte, and its peak repeats") {
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
