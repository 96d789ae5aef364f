#include "core/trial/conformance/numbers.h"

#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "core/trial/model/instances.h"

namespace ablate {

Tensor normal(at::IntArrayRef sizes, std::uint64_t seed, at::ScalarType type) {
  return randn(sizes, make_generator(seed), kDouble).to(type);
}

Tensor padding_mask(const std::vector<std::int64_t>& lengths, std::int64_t n) {
  return arange(n).unsqueeze(0) < integers(lengths).unsqueeze(1);
}

Tensor scaled(const Tensor& x, std::initializer_list<double> factors) {
  std::vector<Tensor> items;
  for (const auto factor : factors) items.push_back(x[static_cast<std::int64_t>(items.size())] * factor);
  return ablate::stack(items);
}

double difference(const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined() || a.sizes() != b.sizes()) return a.defined() == b.defined() && !a.defined() ? 0 : kWrong;
  if (a.numel() == 0) return 0;
  const auto largest = (a.detach().to(kDouble) - b.detach().to(kDouble)).abs().max().item().toDouble();
  return std::isfinite(largest) ? largest : kWrong;
}

double difference(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double largest = a.size() == b.size() ? 0 : kWrong;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, difference(a[i], b[i]));
  return largest;
}

double relative(const Tensor& found, const Tensor& right) {
  const auto off = difference(found, right);
  return right.numel() == 0 ? off : off / std::max(1.0, right.detach().to(kDouble).abs().max().item().toDouble());
}

bool finite(const std::vector<Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [](const Tensor& tensor) { return tensor.isfinite().all().item().toBool(); });
}

double median_off(const Tensor& found, const Tensor& right) {
  const auto off = (found.to(right.scalar_type()) - right).abs().median().item().toDouble();
  return off / std::max(1e-3, right.abs().median().item().toDouble());
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
