#include "one_call.h"

namespace ablate::adamra {
namespace {

/// (x W^T + b) A of each head, as a weight [out, in] and a bias [out].
struct FoldedMaps {
  std::vector<Tensor> weights, biases;
  FoldedMaps(const Linear& first, const Tensor& second)
      : weights(second.transpose(1, 2).matmul(first.weight).unbind()),
        biases(first.bias.unsqueeze(0).matmul(second).squeeze(-2).unbind()) {}
};

/// The heads that at least one query chose, in rising order, and the index of each query's head in `heads`.
struct Used {
  std::vector<std::size_t> heads;
  Tensor place;  ///< [batch, n]: index in `heads`; -1 if the query reads nothing
};
Used used_heads(const Tensor& chosen, const Tensor& real, std::size_t heads) {
  Used used{.heads = {}, .place = (real.defined() ? chosen.masked_fill(real.logical_not(), -1) : chosen.clone()).contiguous()};
  auto* const place = used.place.mutable_data_ptr<std::int64_t>();
  const auto count = used.place.numel();
  std::vector<std::int64_t> places(heads, -1);
  for (std::int64_t i = 0; i < count; ++i)
    if (place[i] >= 0) places[static_cast<std::size_t>(place[i])] = 0;
  for (std::size_t h = 0; h < heads; ++h)
    if (places[h] == 0) {
      places[h] = static_cast<std::int64_t>(used.heads.size());
      used.heads.push_back(h);
    }
  for (std::int64_t i = 0; i < count; ++i)
    if (place[i] >= 0) place[i] = places[static_cast<std::size_t>(place[i])];
  return used;
}

}  // namespace

Tensor read_in_one_call(const ReadMaps& maps, const ReadTokens& tokens, const Tensor& chosen, const Tensor& weight,
                        const Tensor& real) {
  const auto used = used_heads(chosen, real, maps.compressions.size());
  if (used.heads.empty()) {
    const auto sizes = tokens.queries.sizes();
    return maps.output.forward(
        zeros({sizes[0], sizes[1], maps.output.weight.size(1)}, tokens.queries.options().requires_grad(false)));
  }
  const FoldedMaps query(maps.query, maps.head_query), key(maps.key, maps.head_key), value(maps.value, maps.head_value);
  const auto x = tokens.context.unsqueeze(1);
  std::vector<QueryGroup> groups;
  for (const auto h : used.heads) {
    const auto memory =
        maps.compressions[h]->write({.keys = x, .values = x, .mask = tokens.mask, .generator = tokens.generator});
    groups.push_back({.context = memory.keys.squeeze(1),
                      .mass = memory.mass.squeeze(1),
                      .query = query.weights[h],
                      .query_bias = query.biases[h],
                      .key = key.weights[h],
                      .key_bias = key.biases[h],
                      .value = value.weights[h],
                      .value_bias = value.biases[h]});
  }
  const auto factors = weight.defined() ? weight.view(chosen.sizes()) : Tensor();
  return grouped_kernel_attention(tokens.queries, groups, used.place, factors, maps.output, maps.subheads, maps.map);
}

}  // namespace ablate::adamra
