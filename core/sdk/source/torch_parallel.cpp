#include "ablate/torch_parallel.h"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>

#include <algorithm>

#include "ablate/tensor.h"

namespace ablate {

std::int64_t parts_for_threads(std::int64_t most) {
  return std::max<std::int64_t>(1, std::min<std::int64_t>(most, at::get_num_threads()));
}

void in_parallel(std::int64_t parts, const std::function<void(std::int64_t part)>& f) {
  if (parts <= 1 || at::get_num_threads() == 1 || at::in_parallel_region()) {
    for (std::int64_t part = 0; part < parts; ++part) f(part);
    return;
  }
  // LibTorch divides a loop over a tensor among its OpenMP threads. Each part has a byte, whose address gives its number.
  const auto bytes = empty({parts}, at::kByte);
  const auto* const first = reinterpret_cast<const char*>(bytes.const_data_ptr<std::uint8_t>());
  const auto loop = [&](char** data, const std::int64_t*, std::int64_t count, std::int64_t) {  // one row
    const std::int64_t begin = data[0] - first;
    for (auto part = begin; part < begin + count; ++part) f(part);
  };
  at::TensorIteratorConfig().check_all_same_dtype(false).resize_outputs(false).add_output(bytes).build().for_each(loop, 1);
}

}  // namespace ablate
