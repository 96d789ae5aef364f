// The checks of what an attention's instances keep, draw and train.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each returns an error as Checks::Measure does, or throws std::runtime_error saying what is wrong.

/// In training a gradient of the output or of the auxiliary loss reaches every parameter, at one of the stands that have it,
/// and nothing that is no parameter.
double trained(const AttentionSubject& subject);
/// Changing all that one instance owns changes nothing in another.
double instances(const AttentionSubject& subject);
/// The same seed gives the same bits, whatever torch's global generator does; also in training, forward and backward.
double seed(const AttentionSubject& subject);
/// Evaluation gives the same twice, from any generator, draws nothing, and changes nothing registered.
double evaluation(const AttentionSubject& subject);
/// What is handed in is read, not written, in training and in evaluation.
double inputs(const AttentionSubject& subject);
/// What is registered is all that there is: copied into an instance of another seed after a step, it gives the same outputs.
double save(const AttentionSubject& subject);
/// on_step changes no parameter.
double step(const AttentionSubject& subject);
/// Registered tensors have the types that Kept gives them, also after a step, and whole numbers that half precision cannot
/// hold are kept. @param where what is kept and what does not decay
double kept(const AttentionSubject& subject, std::string& where);

}  // namespace ablate::conformance
