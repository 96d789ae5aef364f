// Random inputs of kernels, and errors of their results.
#pragma once

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ablate/linear.h"
#include "core/trial/model/instances.h"

namespace ablate::test {

inline Tensor normal(IntArrayRef sizes, double deviation, std::uint64_t seed) {
  return (randn(sizes, make_generator(seed), kDouble) * deviation).to(kFloat);
}

inline std::vector<Tensor> in_double(std::vector<Tensor> tensors) {
  for (auto& tensor : tensors) tensor = tensor.to(kDouble);
  return tensors;
}

/// Bound on off() for the rounding of float32 in sums over a few hundred tokens.
inline constexpr double kNear = 1e-5;

/// Returns the largest error of any tensor, divided by the larger of `least` and the tensor's largest expected number.
/// Returns infinity if there is a NaN, or if `found` and `expected` have different numbers of tensors.
inline double worst(const std::vector<Tensor>& found, const std::vector<Tensor>& expected, double least = 1e-30) {
  double most = found.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    const auto scale = expected[i].to(kDouble).abs().max().clamp_min(least);
    const auto off = ((found[i].to(kDouble) - expected[i]).abs().max() / scale).item<double>();
    most = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(most, off);
  }
  return most;
}

/// Returns worst() with a `least` of 1e-3.
inline double off(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  return worst(found, expected, 1e-3);
}

inline bool same_bits(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].equal(b[i])) return false;
  return true;
}

/// True if a and b have NaN in the same places.
inline bool same_gaps(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!a[i].isnan().equal(b[i].isnan())) return false;
  return true;
}

inline std::vector<Tensor> without_gaps(std::vector<Tensor> tensors) {
  for (auto& tensor : tensors) tensor = tensor.masked_fill(tensor.isnan(), 0);
  return tensors;
}

/// Sets torch's number of threads during its lifetime.
struct Threads {
  explicit Threads(int count) : before(at::get_num_threads()) { at::set_num_threads(count); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() { at::set_num_threads(before); }
  int before;
};

/// Returns projections of query, key, value and output. Each has two tensors, weight and bias, from tensor `first` on.
inline Projections projections_of(const std::vector<Tensor>& tensors, std::size_t first, std::int64_t heads) {
  const auto projection = [&](std::size_t i) {
    auto made = make_linear(1, 1, true, make_generator(1));
    made->weight = tensors[first + 2 * i], made->bias = tensors[first + 2 * i + 1];
    return made;
  };
  return {projection(0), projection(1), projection(2), projection(3), heads};
}

}  // namespace ablate::test
