// Attention between projections of a given size, in both forms: random inputs, masks, values and gradients.
#pragma once

#include <torch/csrc/autograd/autograd.h>

#include "ablate/kernel_attention.h"
#include "ablate/random_features.h"
#include "tests/kernels/results.h"
#include "tests/support/catch.h"

namespace ablate::test {

struct Case {
  std::int64_t batch, n, keys;  ///< keys 0: self-attention
  std::int64_t d, heads, d_head;
  FeatureMap map;
  bool masked;
  std::int64_t features = 0;  ///< random features of a head; 0: the feature map
};

/// Draws queries, context (except in self-attention), and the weights and biases of the four projections.
inline std::vector<Tensor> inputs_of(const Case& of) {
  const auto width = of.heads * of.d_head;
  std::vector<Tensor> inputs{normal({of.batch, of.n, of.d}, 1, 1)};
  if (of.keys > 0) inputs.push_back(normal({of.batch, of.keys, of.d}, 1, 2));
  for (std::uint64_t i = 0; i < 4; ++i) {
    const bool out = i == 3;
    inputs.push_back(normal(out ? at::IntArrayRef({of.d, width}) : at::IntArrayRef({width, of.d}), 0.2, 3 + 2 * i));
    inputs.push_back(normal({out ? of.d : width}, 0.2, 4 + 2 * i));
  }
  return inputs;
}

/// Returns a mask with which item b counts only its first keys, and the last item counts no key.
inline Tensor mask_of(const Case& of) {
  if (!of.masked) return {};
  const auto keys = of.keys > 0 ? of.keys : of.n;
  auto mask = ones({of.batch, keys}, kBool);
  for (std::int64_t b = 0; b < of.batch; ++b) mask[b].slice(0, keys * (of.batch - 1 - b) / of.batch).fill_(false);
  return mask;
}

inline Tensor vectors_of(const Case& of) {
  return FeatureVectors(of.heads, of.features, of.d_head, 0, make_generator(40)).vectors;
}

inline Tensor output(const Case& of, const std::vector<Tensor>& inputs, bool fused, const Tensor& mask) {
  const bool self = of.keys == 0;
  const auto& context = inputs[self ? 0 : 1];
  const auto by = projections_of(inputs, self ? 1 : 2, of.heads);
  if (of.features > 0) return projected_feature_attention(inputs[0], context, mask, by, vectors_of(of), fused);
  return projected_kernel_attention(inputs[0], context, mask, by, of.map, fused);
}

/// Returns y and the gradients of all inputs.
inline std::vector<Tensor> results(const Case& of, std::vector<Tensor> inputs, bool fused, const Tensor& mask) {
  for (auto& input : inputs) input = input.detach().requires_grad_();
  const auto y = output(of, inputs, fused, mask);
  std::vector<Tensor> all{y.detach()};
  for (auto& one : torch::autograd::grad({y}, inputs, {normal(y.sizes(), 1, 20).to(y.scalar_type())})) all.push_back(one);
  return all;
}
inline std::vector<Tensor> results(const Case& of, bool fused) { return results(of, inputs_of(of), fused, mask_of(of)); }

inline std::vector<Tensor> exact(const Case& of) { return results(of, in_double(inputs_of(of)), false, mask_of(of)); }

constexpr double kFloatRounding = 1e-5;  ///< rounding of float32 if sums of weights may be small

/// Checks that both forms give the equation's values and gradients.
inline void check_forms(const Case& of) {
  const auto expected = exact(of);
  const auto by_reference = results(of, false), found = results(of, true);
  CHECK(off({found[0]}, {expected[0]}) < kFloatRounding);
  // With one key, no result depends on its weight, so gradients of queries and keys are 0 except for rounding errors.
  const bool one = of.n == 1;
  CHECK(off(by_reference, expected) < (one ? 0.03 : kFloatRounding));
  CHECK(off(found, expected) < (one ? std::max(kFloatRounding, 5 * off(by_reference, expected)) : kFloatRounding));
}

/// Checks that an item's bits do not depend on its batch or on threads.
inline void check_alone(const Case& of) {
  const auto inputs = inputs_of(of);
  auto alone = inputs;
  alone[0] = inputs[0].slice(0, 1, 2);
  const auto all = results(of, inputs, true, {})[0];
  CHECK(all.slice(0, 1, 2).equal(results(of, alone, true, {})[0]));
  const Threads with(2);
  CHECK(all.equal(results(of, inputs, true, {})[0]));
}

/// Checks that errors exceed rounding if one more key is masked, or if a weight changes by `part` of its largest number.
inline void check_wrong(const Case& of, double part) {
  const auto inputs = inputs_of(of);
  const auto expected = exact(of);
  auto mask = mask_of(of);
  mask[0][0].fill_(false);  // one key of one item
  CHECK(off(results(of, inputs, true, mask), expected) > 10 * kFloatRounding);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    INFO(i);
    auto other = inputs;
    other[i] = other[i] + part * other[i].abs().max();
    CHECK(off(results(of, other, true, mask_of(of)), expected) > 10 * kFloatRounding);
  }
}

}  // namespace ablate::test
