#include "core/trial/conformance/compression_probe.h"

namespace ablate {

CompressionInputs CompressionInputs::item(std::int64_t i, std::int64_t length) const {
  return {queries.narrow(0, i, 1), keys.narrow(0, i, 1).narrow(2, 0, length), values.narrow(0, i, 1).narrow(2, 0, length), {}};
}

CompressionInputs CompressionInputs::tokens(std::int64_t first, std::int64_t length) const {
  return {queries, keys.narrow(2, first, length), values.narrow(2, first, length), {}};
}

CompressionInputs CompressionInputs::to(at::ScalarType type) const {
  return {queries.to(type), keys.to(type), values.to(type), mask};
}

std::shared_ptr<Compression> CompressionProbe::make(Slots slots, std::uint64_t seed, at::ScalarType type) const {
  auto compression =
      make_compression(candidate_.section, slots, kHeads, kChannels, kMaxLength, candidate_.find, make_generator(seed));
  move_to(*compression, c10::kCPU, type);
  compression->eval();
  return compression;
}

CompressionInputs CompressionProbe::inputs(std::int64_t length, const std::vector<std::int64_t>& lengths, std::uint64_t seed,
                                           std::int64_t batch) {
  const auto generator = make_generator(seed);
  if (!lengths.empty()) batch = static_cast<std::int64_t>(lengths.size());
  const auto random = [&](std::int64_t tokens) { return randn({batch, kHeads, tokens, kChannels}, generator, kDouble); };
  CompressionInputs result{random(kQueries), random(length), random(length), {}};
  if (!lengths.empty()) result.mask = padding_mask(lengths, length);
  return result;
}

Memory CompressionProbe::write(Compression& compression, const CompressionInputs& inputs, const Memory* held) {
  WriteInput input;
  input.keys = inputs.keys;
  input.values = inputs.values;
  input.mask = inputs.mask;
  input.queries = inputs.queries;
  input.held = held;
  if (inputs.keys.is_cpu()) input.generator = make_generator(19);
  return compression.write(input);
}

Tensor CompressionProbe::read(Compression& compression, const Tensor& queries, const Memory& memory, Similarity similarity) {
  return compression.read({.queries = queries, .memory = memory, .similarity = similarity}).values;
}

Tensor CompressionProbe::causal_read(Compression& compression, const Tensor& queries, const Memory& memory,
                                     Similarity similarity, std::int64_t offset) {
  return compression.read({.queries = queries, .memory = memory, .similarity = similarity, .causal = true, .offset = offset})
      .values;
}

CompressionPass CompressionProbe::pass(Compression& compression, const CompressionInputs& inputs) {
  auto leaves = copies({inputs.queries, inputs.keys, inputs.values});
  for (auto& leaf : leaves) leaf.requires_grad_();
  const auto memory = write(compression, {leaves[0], leaves[1], leaves[2], inputs.mask});
  for (const auto& parameter : parameters_of(compression)) leaves.push_back(parameter);
  std::vector<Tensor> outputs;
  for (const auto similarity : kSimilarities) {
    outputs.push_back(read(compression, leaves[0], memory, similarity));
    if (compression.promises().causal_reads)
      outputs.push_back(causal_read(compression, leaves[0], memory, similarity, inputs.keys.size(2) / 2));
  }
  Tensor loss;
  CompressionPass result;
  for (const auto& output : outputs) {
    const auto term = (output * normal(output.sizes(), 11, output.scalar_type()).to(output.device())).sum();
    loss = loss.defined() ? loss + term : term;
    result.outputs.push_back(output.detach());
  }
  result.gradients = gradients_of(loss, leaves);
  return result;
}

double unless_finite(const std::vector<Tensor>& tensors) { return finite(tensors) ? 0 : kWrong; }

}  // namespace ablate
