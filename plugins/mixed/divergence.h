// Measures how different the attention of a mixture's heads is.
#pragma once

#include <memory>
#include <vector>

#include "ablate/attention.h"

namespace ablate::mixed {

/// Jensen-Shannon divergence between the attention distributions of two heads, in nats, at most ln 2 = 0.6931. Roy et al. 2021
/// compare local heads with routing heads this way. Mean over queries and over pairs of heads, of one part or of two parts.
class Divergence {
 public:
  /// Throws std::invalid_argument if a part has no attention weights. Runs one evaluation pass of each part to find out.
  /// @param examples number of examples to measure, the first of each batch
  Divergence(std::vector<std::shared_ptr<Attention>> parts, std::int64_t examples, const AttentionContext& context);

  /// Returns divergence_I_J of parts I and J (from 0), and divergence_I_J_layer_L (L from 1). Leaves out I = J if the part has
  /// only one head. Leaves out parts I and J if no query has weights in a head of I and in a head of J.
  std::vector<Measurement> of(const AttentionInput& input) const;

 private:
  std::vector<std::shared_ptr<Attention>> parts_;
  std::int64_t examples_, layer_;
};

}  // namespace ablate::mixed
