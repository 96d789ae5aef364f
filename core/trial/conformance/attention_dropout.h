// Dropout of attention weights, where it is promised.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

/// Off in evaluation. In training drawn from the generator handed in alone, another one for another seed; on the average what
/// no dropout gives; the gradient belongs to what was drawn; padding stays outside.
void weight_dropout(const AttentionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
