// Attentions, one pass through them, and their equations in plain operators, on tensors of any size.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include "tests/plugins/module.h"

namespace ablate::test {

inline constexpr std::int64_t kChannels = 16;
inline constexpr std::int64_t kMaxLength = 80;

/// Makes an attention in float64 and evaluation mode. Fills in `d_model` and `max_length` of `place` if they are 0.
inline std::shared_ptr<Attention> make(const nlohmann::json& section, std::uint64_t seed = 1, AttentionPlace place = {},
                                       const FindPlugin& find = find_plugin) {
  if (place.d_model == 0) place.d_model = kChannels;
  if (place.max_length == 0) place.max_length = kMaxLength;
  SharedTensors shared;
  return in_double(make_attention(plugin_from_json(section), place, find, make_generator(seed), shared));
}

/// Input of a pass. Undefined context: self-attention. Each pass has a fresh generator.
struct Pass {
  Tensor queries;
  Tensor context;
  Tensor mask;
  AttentionState state;
  bool measure = false;
  std::uint64_t seed = 17;
};

inline AttentionOutput pass(Attention& attention, const Pass& pass) {
  const bool self = !pass.context.defined();
  return attention.forward({.queries = pass.queries,
                            .context = self ? pass.queries : pass.context,
                            .mask = pass.mask,
                            .query_mask = self ? pass.mask : Tensor(),
                            .state = pass.state,
                            .generator = make_generator(pass.seed),
                            .measure = pass.measure});
}
inline Tensor run(Attention& attention, const Pass& given) { return pass(attention, given).output; }

/// Returns normal random numbers, [batch, n, kChannels].
inline Tensor random_tokens(std::int64_t batch, std::int64_t n, std::uint64_t seed) {
  return normal({batch, n, kChannels}, seed);
}

/// Returns gradients of a scalar for all parameters, then for `inputs`; 0 for a tensor without a gradient.
inline std::vector<Tensor> gradients(const Module& module, const Tensor& loss, const std::vector<Tensor>& inputs = {}) {
  std::vector<Tensor> of;
  for (const auto& entry : module.parameters()) of.push_back(entry.tensor);
  of.insert(of.end(), inputs.begin(), inputs.end());
  auto found = torch::autograd::grad({loss}, of, {}, true, false, true);
  for (std::size_t i = 0; i < of.size(); ++i)
    if (!found[i].defined()) found[i] = zeros_like(of[i]);
  return found;
}

inline double distance(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  double most = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) most = std::max(most, distance(a[i], b[i]));
  return most;
}

/// Returns the largest distance() of any tensor, divided by the larger of 1e-3 and the expected tensor's largest number.
inline double relative(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
  double most = found.size() == expected.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < found.size() && i < expected.size(); ++i)
    most = std::max(most, distance(found[i].to(kDouble), expected[i]) / std::max(1e-3, expected[i].abs().max().item<double>()));
  return most;
}

/// Applies the layer called `name`: x W^T + b.
inline Tensor layer(const Module& module, const std::string& name, const Tensor& x) {
  return x.matmul(parameter(module, name + ".weight").t()) + parameter(module, name + ".bias");
}

/// Copies every parameter of one attention into another attention with the same names and shapes.
inline void copy_parameters(const Attention& from, Attention& to) {
  NoGradGuard no_grad;
  for (auto& entry : to.parameters()) entry.tensor.copy_(parameter(from, entry.name));
}

/// Returns sim(q, k_j) for all j (AdaMRA, Eq. 2 and 7), [slots], from q [d] and keys [slots, d].
inline Tensor similarity(const std::string& name, const Tensor& q, const Tensor& keys) {
  if (name == "softmax") return (keys.matmul(q) / std::sqrt(static_cast<double>(q.size(0)))).exp();
  const auto phi = [&](const Tensor& x) { return name == "relu" ? x.clamp_min(0) : (x + 1).where(x > 0, x.exp()); };
  return phi(keys).matmul(phi(q));
}

/// Returns the mean of values that one query reads, or 0 if the weights add up to 0. `mass` has a weight for each key.
inline Tensor read(const std::string& name, const Tensor& q, const Tensor& keys, const Tensor& values, const Tensor& mass) {
  const auto weights = similarity(name, q, keys) * mass;
  const auto sum = weights.sum();
  return sum.item<double>() > 0 ? weights.matmul(values) / sum : (weights.matmul(values) * 0);
}

/// Computes uncompressed attention of one item, head by head and query by query. If causal, query i sees keys 0 to offset + i.
/// @param queries [n, d_model]
/// @param context [n_context, d_model]
inline Tensor attend(const Attention& attention, const std::string& sim, std::int64_t heads, const Tensor& queries,
                     const Tensor& context, bool causal = false, std::int64_t offset = 0) {
  const auto q = layer(attention, "query", queries), k = layer(attention, "key", context),
             v = layer(attention, "value", context);
  const auto size = q.size(1) / heads;
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < q.size(0); ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto visible = causal ? std::min(offset + i + 1, k.size(0)) : k.size(0);
      const auto of_head = [&](const Tensor& x) { return x.narrow(0, 0, visible).narrow(1, h * size, size); };
      parts.push_back(read(sim, q[i].narrow(0, h * size, size), of_head(k), of_head(v), ones({visible}, q.options())));
    }
    rows.push_back(cat(parts));
  }
  return layer(attention, "output", stack(rows));
}

}  // namespace ablate::test
