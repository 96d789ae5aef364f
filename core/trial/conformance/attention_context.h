// The checks of what an attention promises about its context: padding, the future, cross-attention.
#pragma once

#include <limits>
#include <vector>

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

/// How far off a check is where no number says it.
inline constexpr double kWrong = std::numeric_limits<double>::infinity();

inline constexpr double kRounding = 1e-10;  ///< float64, sums of some hundred terms in another order

/// The lengths of the padded batch of three: full, part, one token.
inline const std::vector<std::int64_t> kLengths = {13, 8, 1};

inline torch::Tensor item(const torch::Tensor& batch, std::int64_t index, std::int64_t length) {
  return batch.narrow(0, index, 1).narrow(1, 0, length);
}

// Each returns the largest absolute difference to what is right, or kWrong.

/// Causal: the largest gradient of an output in a later input.
double causal(const AttentionSubject& subject);
/// Padded against cut to its length, item by item; causal and cross as well where promised.
double padding(const AttentionSubject& subject);
/// NaN and infinity under the mask against ordinary numbers there: outputs, and gradients in everything.
double poison(const AttentionSubject& subject);
/// Nothing to attend to: 0 before the output projection, so the bias of the layer called "output", where there is one.
double empty(const AttentionSubject& subject);
/// One instance may be used as self- and as cross-attention: a copy of the tokens as the context changes nothing.
double cross(const AttentionSubject& subject);

}  // namespace ablate::conformance
