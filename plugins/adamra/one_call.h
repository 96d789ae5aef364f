// Reads of all heads as one operation, for memories whose slots are means of tokens and are read by a feature map.
#pragma once

#include <memory>
#include <vector>

#include "ablate/compression.h"
#include "ablate/kernel_attention.h"

namespace ablate::adamra {

/// Weights and compressions of an AdaMRA layer. The maps of the heads are [heads, width in, width out].
struct ReadMaps {
  const Linear &query, &key, &value, &output;
  const Tensor &head_query, &head_key, &head_value;
  std::int64_t subheads;
  FeatureMap map;
  const std::vector<std::shared_ptr<Compression>>& compressions;  ///< one per head; their slots are means
};

struct ReadTokens {
  Tensor queries;  ///< [batch, n, d_model]
  Tensor context;  ///< [batch, keys, d_model], 0 at masked tokens
  Tensor mask;     ///< [batch, keys] bool, or undefined
  Generator generator;
};

/// Computes Eq. 1, Eq. 7 to 9 and the output projection. Means of projected tokens equal projections of means, so only slots
/// are projected. Two successive maps are folded into one (d^3 operations per head instead of d^2 per token).
/// @param chosen [batch, n] int64, the head of each query
/// @param weight [batch * n, 1], factor of the output; undefined: 1
/// @param real [batch, n] bool, the queries that read; undefined: all
/// @return [batch, n, d_model]
Tensor read_in_one_call(const ReadMaps& maps, const ReadTokens& tokens, const Tensor& chosen, const Tensor& weight,
                        const Tensor& real);

}  // namespace ablate::adamra
