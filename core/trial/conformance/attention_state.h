// The checks of what an attention carries from segment to segment.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each shows the finding what it sees, or throws std::runtime_error saying what is wrong.

/// A state is carried by the host alone, in training and in evaluation: apart for each sequence, and for each item of a batch,
/// where a row of the initial state is a new start; detached, it cuts the gradient. Where memories overflow the newest stays.
void state(const AttentionSubject& subject, Finding& finding);
/// Beyond 5,000 tokens float32 gives what float64 does; segments that give the same at near positions do so at far ones.
void state_far(const AttentionSubject& subject, Finding& finding);
/// With the state of a start it gives what it gives where none is carried: nothing is in front.
void start(const AttentionSubject& subject, Finding& finding);
/// Padding in a segment neither decays nor shifts what the next one sees; a segment without any token is none.
void state_padding(const AttentionSubject& subject, Finding& finding);
/// Whole, by segments and token by token: the same outputs, and the same gradients through the state, in training, too.
void recurrent(const AttentionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
