// All heads' reads as one operation, where memories are means of tokens and queries read by a kernel.
#pragma once

#include <memory>
#include <vector>

#include "ablate/compression.h"
#include "ablate/kernel_attention.h"

namespace ablate::adamra {

/// An attention's parts; a head's maps are [heads, width in, width out].
struct ReadMaps {
  const Linear &query, &key, &value, &output;
  const Tensor &head_query, &head_key, &head_value;
  std::int64_t subheads;
  FeatureMap map;
  const std::vector<std::shared_ptr<Compression>>& compressions;  ///< one a head, whose slots are means
};

struct ReadTokens {
  Tensor queries;  ///< [batch, n, d_model]
  Tensor context;  ///< [batch, keys, d_model], 0 under the mask
  Tensor mask;     ///< [batch, keys] bool, or undefined
  Generator generator;
};

/// Eq. 1 and 7 to 9 with their output projection. Means of projected tokens are projections of their means, so that only slots
/// are projected; and two maps in a row are one (d^3 operations a head rather than d^2 a token).
/// @param chosen [batch, n] int64, the head of each query @param weight [batch * n, 1], of its output; undefined: 1
/// @param real [batch, n] bool: only these queries read; undefined: all @return [batch, n, d_model]
Tensor read_in_one_call(const ReadMaps& maps, const ReadTokens& tokens, const Tensor& chosen, const Tensor& weight,
                        const Tensor& real);

}  // namespace ablate::adamra
