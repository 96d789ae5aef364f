// Central differences of what a training step differentiates, against its gradients.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

/// Along one direction in all parameters and inputs at once, and where that is wrong, or where `each` is asked for, one by one,
/// so that what is wrong has a name. Where a choice turns within a step, other tokens are tried; where one does in all of them,
/// the finding is told that this is left.
void differences(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding);

}  // namespace ablate::conformance
