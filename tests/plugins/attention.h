// The methods' equations written plainly, on tensors of any size: what the plugins are compared with.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <string>

#include "core/registry/library.h"
#include "core/trial/conformance/attention_subject.h"

namespace ablate::plain {

inline const Descriptor& plugin(const std::string& id) {
  return load_library(std::string(ABLATE_BUILD_DIR) + "/lib/ablate/plugins/" + id + ".so");
}

inline torch::Tensor parameter(const Attention& attention, const std::string& name) {
  return *attention.named_parameters().find(name);
}

/// The layer called `name`: x W^T + b.
inline torch::Tensor layer(const Attention& attention, const std::string& name, const torch::Tensor& x) {
  return x.matmul(parameter(attention, name + ".weight").t()) + parameter(attention, name + ".bias");
}

/// Copies every parameter of one attention into another that has the same names and shapes.
inline void copy_parameters(const Attention& from, Attention& to) {
  torch::NoGradGuard no_grad;
  for (auto& item : to.named_parameters()) item.value().copy_(parameter(from, item.key()));
}

/// sim(q, k_j) for all j (AdaMRA, Eq. 2 and 7). @param q [d] @param keys [slots, d] @return [slots]
inline torch::Tensor similarity(const std::string& name, const torch::Tensor& q, const torch::Tensor& keys) {
  if (name == "softmax") return (keys.matmul(q) / std::sqrt(static_cast<double>(q.size(0)))).exp();
  const auto phi = [&](const torch::Tensor& x) {
    return name == "relu" ? x.clamp_min(0) : torch::where(x > 0, x + 1, x.exp());
  };
  return phi(keys).matmul(phi(q));
}

/// One query's read of keys that each count `mass` times; 0 where the weights add up to 0.
inline torch::Tensor read(const std::string& name, const torch::Tensor& q, const torch::Tensor& keys,
                          const torch::Tensor& values, const torch::Tensor& mass) {
  const auto weights = similarity(name, q, keys) * mass;
  const auto sum = weights.sum();
  return sum.item<double>() > 0 ? weights.matmul(values) / sum : (weights.matmul(values) * 0);
}

/// One item, uncompressed, head by head and query by query. @param queries [n, d_model] @param context [n_context, d_model]
inline torch::Tensor attend(const Attention& attention, const std::string& sim, std::int64_t heads,
                            const torch::Tensor& queries, const torch::Tensor& context, bool causal = false) {
  const auto q = layer(attention, "query", queries), k = layer(attention, "key", context),
             v = layer(attention, "value", context);
  const auto size = q.size(1) / heads;
  std::vector<torch::Tensor> rows;
  for (std::int64_t i = 0; i < q.size(0); ++i) {
    std::vector<torch::Tensor> parts;
    for (std::int64_t h = 0; h < heads; ++h) {
      const auto visible = causal ? std::min(i + 1, k.size(0)) : k.size(0);
      const auto of_head = [&](const torch::Tensor& x) { return x.narrow(0, 0, visible).narrow(1, h * size, size); };
      parts.push_back(read(sim, q[i].narrow(0, h * size, size), of_head(k), of_head(v), torch::ones({visible}, q.options())));
    }
    rows.push_back(torch::cat(parts));
  }
  return layer(attention, "output", torch::stack(rows));
}

}  // namespace ablate::plain
