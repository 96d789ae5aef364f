// How far an attention is from its equation, on a padded batch.
#pragma once

#include "tests/plugins/attention.h"

namespace ablate::test {

/// The largest difference over the real queries of three items of 9, 4 and 1 tokens, to attend().
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

}  // namespace ablate::test
