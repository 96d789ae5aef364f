// Attention by relative positions (Transformer-XL, Dai et al. 2019, section 3.3) over a segment and the memory before it.
#pragma once

#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace ablate {

/// Base of causal attentions with A_ij = (q_i + u) k_j + (q_i + v) W_r R_(i - j). A derived class implements attend(), which
/// gets its weights from relative_weights(). The last keys must be the segment's own.
class RelativeAttention : public HeadwiseAttention {
 public:
  RelativeAttention(const AttentionContext& context, const HeadOptions& options);

 protected:
  /// Softmax of A_ij / sqrt(d) over the keys up to i's own key, whose index is keys - n + i. Rows sum to 1, or are 0 if there
  /// is nothing to attend to. In float32 at least.
  /// @param q [batch, heads, n, d]
  /// @param k [batch, heads, keys, d]
  /// @param mask [batch, keys] bool; undefined: all are tokens
  /// @return [batch, heads, n, keys]
  Tensor relative_weights(const Tensor& q, const Tensor& k, const Tensor& mask) const;

 private:
  std::int64_t d_model_;
  std::shared_ptr<Linear> relative_;     ///< W_{k,R}; without a bias, because softmax cancels it
  Tensor content_bias_, position_bias_;  ///< u and v, [heads, 1, d_head]
};

}  // namespace ablate
