// The checks of what an attention carries from segment to segment.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each returns an error as Checks::Measure does, or throws std::runtime_error saying what is wrong.

/// A state is carried by the host alone, in training and in evaluation: apart for each sequence, and for each item of a batch,
/// where a row of the initial state is a new start; detached, it cuts the gradient.
double state(const AttentionSubject& subject);
/// Padding in a segment neither decays nor shifts what the next one sees; a segment without any token is none.
double state_padding(const AttentionSubject& subject);
/// Whole, by segments and token by token: the same outputs, and the same gradients through the state.
double recurrent(const AttentionSubject& subject);

}  // namespace ablate::conformance
