// Dropout of attention weights, where it is promised.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

/// Off in evaluation. In training drawn from the generator handed in alone, another one for another seed; on the average what
/// no dropout gives; the gradient belongs to what was drawn; padding stays outside.
void weight_dropout(const AttentionSubject& subject, Finding& finding);

/// The share that is dropped and its variance, and that each item, head, query and key has draws of its own, at lengths beyond
/// a block, too: weight by weight if the layers of values and outputs are found by what they do (layers.h). Else unchecked.
void dropout_draws(const AttentionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
