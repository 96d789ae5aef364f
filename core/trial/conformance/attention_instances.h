// The checks of what an attention's instances keep and draw.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each shows the finding what it sees, or throws std::runtime_error saying what is wrong.

/// Changing all that one instance owns changes nothing in another.
void instances(const AttentionSubject& subject, Finding& finding);
/// The same seed gives the same bits, whatever torch's global generator does; also in training, forward and backward, and
/// through on_step at steps at which features are redrawn.
void seed(const AttentionSubject& subject, Finding& finding);
/// Evaluation gives the same twice, from any generator, draws nothing, and changes nothing registered.
void evaluation(const AttentionSubject& subject, Finding& finding);
/// What is handed in is read, not written, in every setting.
void inputs(const AttentionSubject& subject, Finding& finding);
/// A call depends on what it is given, not on the calls before: other tokens and another mask of one shape, in both orders,
/// against new instances; the inputs of the first call are overwritten after it.
void calls(const AttentionSubject& subject, Finding& finding);
/// Made in one thread and called from another it gives the same.
void threads(const AttentionSubject& subject, Finding& finding);
/// What is registered is all that there is: copied into an instance of another seed after some steps, it gives the same
/// outputs, in evaluation and in training.
void save(const AttentionSubject& subject, Finding& finding);
/// on_step changes no parameter.
void step(const AttentionSubject& subject, Finding& finding);
/// Registered tensors have the types that Kept gives them, also after a step, and whole numbers that half precision cannot
/// hold are kept. Says what is kept and what does not decay.
void kept(const AttentionSubject& subject, Finding& finding);

}  // namespace ablate::conformance
