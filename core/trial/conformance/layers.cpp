#include "core/trial/conformance/layers.h"

#include <algorithm>

namespace ablate::conformance {
namespace {

constexpr std::int64_t kWidth = AttentionSubject::kChannels;
/// Row that is moved: no first one, which may be special.
constexpr std::int64_t kRow = 3;

/// All parameters that may be a layer's weight, with the bias of the same prefix.
std::vector<Layer> all_layers(const Instance& instance) {
  std::vector<Layer> all;
  const auto entries = instance.parameters();
  for (const auto& entry : entries) {
    if (entry.tensor.dim() != 2 || !entry.name.ends_with(".weight")) continue;
    const auto prefix = entry.name.substr(0, entry.name.size() - std::string(".weight").size());
    all.push_back({prefix, entry.tensor, {}});
    for (const auto& other : entries)
      if (other.name == prefix + ".bias") all.back().bias = other.tensor;
  }
  return all;
}

/// Returns the output channels that a change of one row reaches; none if outputs are not linear in the row.
std::vector<std::int64_t> reached_by(const Instance& instance, const Layer& layer, const Pass& pass, const Tensor& here) {
  const auto original = layer.weight.detach().clone();
  const auto row = layer.weight.select(0, kRow);
  // Small, for what is linear in pieces counts (a maximum over tokens); float32 needs more.
  const auto by = normal_like(row, 31) * (here.scalar_type() == kDouble ? 1e-3 : 1.0);
  row.add_(by);
  const auto above = run(instance, pass);
  layer.weight.copy_(original);
  row.sub_(by);
  const auto below = run(instance, pass);
  layer.weight.copy_(original);
  const auto first = (above - below).abs().amax({0, 1}), second = (above + below - 2 * here).abs().amax({0, 1});
  // What rounding leaves, of numbers of the outputs' size.
  const double rounding = (here.scalar_type() == kDouble ? 1e-9 : 1e-4) * here.abs().max().clamp_min(1e-3).item().toDouble();
  std::vector<std::int64_t> all;
  // NaN is not small.
  if (!(second.max().item().toDouble() < rounding)) return all;
  for (std::int64_t channel = 0; channel < first.size(0); ++channel)
    if (first[channel].item().toDouble() > rounding) all.push_back(channel);
  return all;
}

}  // namespace

void set_identity(const Tensor& weight) {
  const auto row = arange(weight.size(0)).remainder(weight.size(1)), column = arange(weight.size(1));
  weight.copy_(row.unsqueeze(1).eq(column.unsqueeze(0)));
}

Layers layers_of(const Instance& instance, std::int64_t n) {
  const NoGradGuard none;
  const auto all = all_layers(instance);
  Layers found;
  if (all.empty()) return found;
  const Pass pass{random_tokens(1, n, 5, all.front().weight.scalar_type())};
  auto here = run(instance, pass);
  std::vector<const Layer*> others;
  for (const auto& layer : all) {
    if (layer.weight.size(0) == kWidth && reached_by(instance, layer, pass, here) == std::vector{kRow})
      found.outputs.push_back(layer);
    // With fewer rows a query's or a key's could reach as few channels.
    else if (layer.weight.size(1) == kWidth && layer.weight.size(0) >= kWidth / 2)
      others.push_back(&layer);
  }
  if (found.outputs.empty()) return found;
  std::vector<Tensor> weights;
  for (const auto& layer : found.outputs) weights.push_back(layer.weight);
  const auto originals = copies(weights);
  for (const auto& weight : weights) set_identity(weight);
  here = run(instance, pass);
  for (const auto* layer : others)
    if (const auto count = static_cast<std::int64_t>(reached_by(instance, *layer, pass, here).size());
        count > 0 && count <= kWidth / layer->weight.size(0))
      found.values.push_back(*layer);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i].copy_(originals[i]);
  return found;
}

Layers Layers::of(const Instance& other) const {
  Layers found;
  const auto is_in = [](const std::vector<Layer>& some, const Layer& layer) {
    return std::any_of(some.begin(), some.end(), [&](const Layer& one) { return one.prefix == layer.prefix; });
  };
  for (const auto& layer : all_layers(other)) {
    if (is_in(outputs, layer)) found.outputs.push_back(layer);
    if (is_in(values, layer)) found.values.push_back(layer);
  }
  return found;
}

}  // namespace ablate::conformance
