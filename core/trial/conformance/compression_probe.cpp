#include "core/trial/conformance/compression_probe.h"

#include <torch/csrc/autograd/autograd.h>

#include <limits>

namespace ablate {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

CompressionInputs CompressionInputs::item(std::int64_t i, std::int64_t length) const {
  return {queries.narrow(0, i, 1), keys.narrow(0, i, 1).narrow(2, 0, length), values.narrow(0, i, 1).narrow(2, 0, length), {}};
}

CompressionInputs CompressionInputs::to(torch::ScalarType type) const {
  return {queries.to(type), keys.to(type), values.to(type), mask};
}

std::shared_ptr<Compression> CompressionProbe::make(Rate rate, std::uint64_t seed, torch::ScalarType type) const {
  auto compression = make_compression(plugin_, rate, kHeads, kChannels, kMaxLength, make_generator(seed));
  move_to(*compression, torch::kCPU, type);
  compression->eval();
  return compression;
}

CompressionInputs CompressionProbe::inputs(std::int64_t length, const std::vector<std::int64_t>& lengths, std::uint64_t seed,
                                           std::int64_t batch) {
  const auto generator = make_generator(seed);
  if (!lengths.empty()) batch = static_cast<std::int64_t>(lengths.size());
  const auto normal = [&](std::int64_t tokens) {
    return torch::randn({batch, kHeads, tokens, kChannels}, generator, torch::kDouble);
  };
  CompressionInputs result{normal(kQueries), normal(length), normal(length), {}};
  if (!lengths.empty()) result.mask = torch::arange(length).unsqueeze(0) < torch::tensor(lengths, torch::kLong).unsqueeze(1);
  return result;
}

CompressionPass CompressionProbe::pass(Compression& compression, const CompressionInputs& inputs) {
  std::vector<torch::Tensor> leaves;
  for (const auto& x : {inputs.queries, inputs.keys, inputs.values}) leaves.push_back(x.detach().clone().requires_grad_());
  const auto memory = compression.write(leaves[1], leaves[2], inputs.mask);
  for (const auto& parameter : compression.parameters()) leaves.push_back(parameter);
  CompressionPass result;
  torch::Tensor loss;
  for (const auto similarity : kSimilarities) {
    const auto output = compression.read(leaves[0], memory, similarity);
    result.outputs.push_back(output.detach());
    const auto weights =
        torch::randn(output.sizes(), make_generator(11), torch::kDouble).to(output.device(), output.scalar_type());
    const auto term = (output * weights).sum();
    loss = loss.defined() ? loss + term : term;
  }
  result.gradients = torch::autograd::grad({loss}, leaves, {}, std::nullopt, false, true);
  for (std::size_t i = 0; i < leaves.size(); ++i)
    if (!result.gradients[i].defined()) result.gradients[i] = torch::zeros_like(leaves[i]);
  return result;
}

double largest_difference(const torch::Tensor& a, const torch::Tensor& b) {
  if (a.sizes() != b.sizes()) return kInfinity;
  if (a.numel() == 0) return 0;
  const double difference = (a.detach().to(torch::kDouble) - b.detach().to(torch::kDouble)).abs().max().item<double>();
  return difference <= std::numeric_limits<double>::max() ? difference : kInfinity;
}

double largest_difference(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  if (a.size() != b.size()) return kInfinity;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, largest_difference(a[i], b[i]));
  return largest;
}

double unless_finite(const std::vector<torch::Tensor>& tensors) {
  for (const auto& tensor : tensors)
    if (!tensor.isfinite().all().item<bool>()) return kInfinity;
  return 0;
}

}  // namespace ablate
