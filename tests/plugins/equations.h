// Errors of an attention against its equation, on a padded batch.
#pragma once

#include <functional>

#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

namespace ablate::test {

/// Returns the largest difference from attend() over the real queries of three items of 9, 4 and 1 tokens.
inline double off(Attention& attention, const std::string& similarity, std::int64_t heads, bool causal, bool cross) {
  const std::vector<std::int64_t> lengths = {9, 4, 1};
  const auto tokens = random_tokens(3, 9, 2), queries = cross ? random_tokens(3, 6, 3) : tokens;
  const auto output = run(attention, {queries, cross ? tokens : Tensor(), mask_of(9, lengths)});
  double worst = 0;
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto context = tokens[i].narrow(0, 0, lengths[i]);
    const auto expected = attend(attention, similarity, heads, cross ? queries[i] : context, context, causal);
    worst = std::max(worst, distance(output[i].narrow(0, 0, expected.size(0)), expected));
  }
  return worst;
}

/// Checks items of a batch against an equation, from [length, kChannels] to the same shape: outputs of padded items and of
/// single items, and gradients of parameters and tokens.
/// @param lengths lengths of the items, the longest first
inline void check_equation(Attention& attention, const std::vector<std::int64_t>& lengths,
                           const std::function<Tensor(const Tensor&)>& equation) {
  const auto items = static_cast<std::int64_t>(lengths.size()), longest = lengths.front();
  const auto x = random_tokens(items, longest, 2).requires_grad_(), weights = random_tokens(items, longest, 3);
  const auto padded = run(attention, {x, {}, mask_of(longest, lengths)});
  auto loss = zeros({}, kDouble), right = loss.clone();
  for (std::int64_t i = 0; i < items; ++i) {
    const auto n = lengths[static_cast<std::size_t>(i)];
    const auto own = x[i].narrow(0, 0, n), found = padded[i].narrow(0, 0, n), expected = equation(own);
    CHECK(distance(found, expected) < 1e-12);
    CHECK(distance(run(attention, {own.unsqueeze(0)})[0], expected) < 1e-12);
    loss = loss + (found * weights[i].narrow(0, 0, n)).sum();
    right = right + (expected * weights[i].narrow(0, 0, n)).sum();
  }
  CHECK(distance(gradients(attention, loss, {x}), gradients(attention, right, {x})) < 1e-11);
}

}  // namespace ablate::test
