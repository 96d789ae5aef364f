// Tools for all checks of tensors: inputs from seeds, masks, and the distance between two results.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "ablate/module.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

/// Error of a check if no number measures it: a wrong shape or type, a number that is not finite.
inline constexpr double kWrong = std::numeric_limits<double>::infinity();
inline constexpr Allowed kDifferences{1e-5, "central differences of step 1e-6 in float64"};

/// Returns standard normal numbers from a seed, drawn in float64 so that all types have the same numbers.
Tensor normal(at::IntArrayRef sizes, std::uint64_t seed, at::ScalarType type = kDouble);

/// Returns normal numbers with the shape, type and device of x.
Tensor normal_like(const Tensor& x, std::uint64_t seed);

/// Returns a seeded generator of the device: a new one for the CPU, torch's own for other devices.
Generator generator_on(c10::Device device, std::uint64_t seed);

/// Seeds torch's global generator of the CPU, and returns it.
Generator set_global(std::uint64_t seed);
/// Returns [items, n] bool, true for the first lengths[i] tokens of item i.
Tensor padding_mask(const std::vector<std::int64_t>& lengths, std::int64_t n);

/// Multiplies each item by its own factor.
/// @param x [factors, ...]
Tensor scaled(const Tensor& x, std::initializer_list<double> factors);

/// "float32"
const char* name_of(at::ScalarType type);
/// Returns the error that rounding of a transform (an FFT) may leave in a gradient that has to be 0.
Allowed left_of_zero(at::ScalarType type);
/// Returns the allowed difference of results of one shape, if their inputs differ only in parts that must not matter.
Allowed same_shape(at::ScalarType type);

/// Returns the allowed median of the differences between an item's results in two passes, if its length or its batch mates
/// differ. For types narrower than float64.
Allowed median_of_item(at::ScalarType type);

/// Returns the tensors of all parameters. contents() also returns all buffers.
std::vector<Tensor> parameters_of(const Module& module);
std::vector<Tensor> contents(const Module& module);
std::vector<Tensor> copies(const std::vector<Tensor>& tensors);
/// Guard that stores the numbers of tensors when it is made, and restores these numbers when it is destroyed.
class PutBack {
 public:
  explicit PutBack(std::vector<Tensor> tensors) : tensors_(std::move(tensors)), before_(copies(tensors_)) {}
  PutBack(const PutBack&) = delete;
  PutBack& operator=(const PutBack&) = delete;
  ~PutBack() { now(); }
  void now() const {
    const NoGradGuard none;
    for (std::size_t i = 0; i < tensors_.size(); ++i) tensors_[i].copy_(before_[i]);
  }

 private:
  std::vector<Tensor> tensors_, before_;
};

/// Returns the gradients of `loss`, a scalar: zeros for an input that does not affect `loss`.
std::vector<Tensor> gradients_of(const Tensor& loss, const std::vector<Tensor>& inputs);

/// Distance of a derivative from finite differences, divided by the derivative's size if that is above 1.
struct Difference {
  double off = 0;
  bool turns = false;  ///< true if a discrete choice changed within every step that was tried: differences prove nothing
};

/// Compares the derivative of a function along a line at 0 with central differences. If the derivative is wrong, the one-sided
/// differences agree. If they disagree by at least half of the error, a discrete choice has changed (for instance, the set of
/// the four largest weights). Then shorter steps are tried.
template <class At>
Difference off_differences(const At& at, double expected) {
  const double size = std::max(1.0, std::abs(expected));
  const auto off = [&](double numeric) { return std::abs(numeric - expected) / size; };
  constexpr double first = 1e-6;
  const double ahead = at(first), behind = at(-first), here_off = off((ahead - behind) / (2 * first));
  if (here_off <= kDifferences.error || std::isnan(here_off)) return {here_off};
  const double here = at(0);
  for (const double step : {first, first / 10, first / 100}) {
    const double up = (at(step) - here) / step, down = (here - at(-step)) / step, now = off((up + down) / 2);
    if (now <= kDifferences.error || std::isnan(now) || std::abs(up - down) < now * size / 2) return {now};
  }
  return {here_off, true};
}

/// Compares the gradient of a scalar at x with differences along a random direction.
/// @param value returns the loss for the current x
/// @param x is changed and restored
template <class Value>
Difference finite_difference(const Value& value, const Tensor& x, const Tensor& gradient, std::uint64_t seed) {
  const auto direction = normal_like(x, seed);
  const auto original = x.detach().clone();
  const auto put = [&](const Tensor& now) {
    const NoGradGuard none;
    x.copy_(now);
  };
  const auto at = [&](double by) {
    put(original + direction * by);
    return value();
  };
  const auto found = off_differences(at, (gradient.to(x.device()) * direction).sum().item().toDouble());
  put(original);
  return found;
}

}  // namespace ablate
