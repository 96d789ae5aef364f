// Straight-through estimators (Bengio et al. 2013, arXiv 1308.3432): the value of one tensor with the gradient of another.
#pragma once

#include <vector>

#include "ablate/tensor.h"

namespace ablate {

/// The smooth function whose gradient straight-through estimators declare, held at one point, for the suite's finite
/// differences. A pass records the tensors of its calls; later ones replay them.
struct Surrogate {
  struct Call {
    Tensor hard, soft;
  };
  std::vector<Call> calls;
  std::size_t next = 0;
  bool replays = false;
};

/// `hard` going forward, `soft` backward. Calls of one pass come in the same order each time. Both are of one shape and type.
/// @param surrogate AttentionInput's or WriteInput's. While it replays: what was hard when it recorded, plus how far soft has
/// moved since, which is the function that the gradient belongs to.
inline Tensor straight_through(const Tensor& hard, const Tensor& soft, Surrogate* surrogate) {
  if (surrogate != nullptr && surrogate->replays) {
    const auto& held = surrogate->calls.at(surrogate->next++);
    return held.hard + (soft - held.soft);
  }
  if (surrogate != nullptr) surrogate->calls.push_back({hard.detach(), soft.detach()});
  return hard.detach() + (soft - soft.detach());
}

}  // namespace ablate
