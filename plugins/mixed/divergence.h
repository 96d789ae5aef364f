// How different the heads of a mixture look.
#pragma once

#include <memory>
#include <vector>

#include "ablate/attention.h"

namespace ablate::mixed {

/// Jensen-Shannon divergence between the attention distributions of two heads, in nats, so at most ln 2 = 0.6931, as Roy et al.
/// 2021 compare local heads with routing ones: the mean over queries and over all pairs of heads of two parts, or of one.
class Divergence {
 public:
  /// @param examples of a batch that are looked at, from its first on
  /// Throws std::invalid_argument for a part without attention weights: one pass of each in evaluation tells.
  Divergence(std::vector<std::shared_ptr<Attention>> parts, std::int64_t examples, const AttentionContext& context);

  /// divergence_I_J of parts I and J, from 0, and divergence_I_J_layer_L, from 1. A pair without two heads, or without a query
  /// for which both see something, is left out.
  std::vector<Measurement> of(const AttentionInput& input) const;

 private:
  std::vector<std::shared_ptr<Attention>> parts_;
  std::int64_t examples_, layer_;
};

}  // namespace ablate::mixed
