#include "core/trial/conformance/engine/numbers.h"

#include <ATen/Context.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "core/trial/model/instances.h"

namespace ablate {

Tensor normal(at::IntArrayRef sizes, std::uint64_t seed, at::ScalarType type) {
  return randn(sizes, make_generator(seed), kDouble).to(type);
}

Tensor normal_like(const Tensor& x, std::uint64_t seed) { return normal(x.sizes(), seed, x.scalar_type()).to(x.device()); }

Generator generator_on(c10::Device device, std::uint64_t seed) {
  if (device.is_cpu()) return make_generator(seed);
  auto generator = at::globalContext().defaultGenerator(device);
  generator.set_current_seed(seed);
  return generator;
}

Generator set_global(std::uint64_t seed) {
  auto global = at::globalContext().defaultGenerator(c10::kCPU);
  global.set_current_seed(seed);
  return global;
}

Tensor padding_mask(const std::vector<std::int64_t>& lengths, std::int64_t n) {
  return arange(n).unsqueeze(0) < integers(lengths).unsqueeze(1);
}

Tensor scaled(const Tensor& x, std::initializer_list<double> factors) {
  std::vector<Tensor> items;
  for (const auto factor : factors) items.push_back(x[static_cast<std::int64_t>(items.size())] * factor);
  return ablate::stack(items);
}

const char* name_of(at::ScalarType type) {
  switch (type) {
    case kDouble:
      return "float64";
    case kFloat:
      return "float32";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    default:
      return "another type";
  }
}

Allowed left_of_zero(at::ScalarType type) {
  if (type == kDouble) return {1e-12, "float64, the rounding of a transform instead of 0"};
  return {1e-5, "float32, the rounding of a transform instead of 0"};
}

Allowed same_shape(at::ScalarType type) {
  switch (type) {
    case kDouble:
      return kRounding;
    case kFloat:
      return {1e-5, "float32, the same operations on one shape"};
    case at::kHalf:
      return {1e-2, "float16, the same operations on one shape"};
    default:
      return {5e-2, "bfloat16, the same operations on one shape"};
  }
}

Allowed median_of_item(at::ScalarType type) {
  switch (type) {
    case kFloat:
      return {1e-3, "float32, the median of an item: a decision may change, but a forgotten mask changes all numbers"};
    case at::kHalf:
      return {0.03, "float16, the median of an item, whose sums over another length are rounded differently"};
    default:
      return {0.1, "bfloat16, the median of an item, whose sums over another length are rounded differently"};
  }
}

std::vector<Tensor> parameters_of(const Module& module) {
  std::vector<Tensor> all;
  for (const auto& entry : module.parameters()) all.push_back(entry.tensor);
  return all;
}

std::vector<Tensor> contents(const Module& module) {
  auto all = parameters_of(module);
  for (const auto& entry : module.buffers()) all.push_back(entry.tensor);
  return all;
}

std::vector<Tensor> copies(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> all;
  for (const auto& tensor : tensors) all.push_back(tensor.detach().clone());
  return all;
}

std::vector<Tensor> gradients_of(const Tensor& loss, const std::vector<Tensor>& inputs) {
  auto result =
      loss.requires_grad() ? torch::autograd::grad({loss}, inputs, {}, false, false, true) : std::vector<Tensor>(inputs.size());
  for (std::size_t i = 0; i < result.size(); ++i)
    if (!result[i].defined()) result[i] = zeros_like(inputs[i]);
  return result;
}

}  // namespace ablate
