// The checks of an attention's instances, of long sequences, and of promises that are not about its context.
#pragma once

#include <string>

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each returns an error as Checks::Measure does, or throws std::runtime_error saying what is wrong.

/// 1003 tokens, which no usual block divides: the right shape, and finite.
double long_sequence(const AttentionSubject& subject);
/// A gradient of the output or of the auxiliary loss reaches every parameter in training, and nothing that is no parameter.
double trained(const AttentionSubject& subject);
/// Changing all that one instance owns changes nothing in another.
double instances(const AttentionSubject& subject);
/// float16 and bfloat16 forward: near float32, relative to the output's size; gradients and inputs of scale 1e4 finite.
double half(const AttentionSubject& subject);
/// Where all tokens are alike, their number makes no difference: the weights of a normalised attention sum to 1.
double constants(const AttentionSubject& subject);
/// A state is carried from segment to segment by the host alone, apart for each sequence and each item, without padding; an
/// empty one is a new start, and a detached one cuts the gradient.
double state(const AttentionSubject& subject);
/// What is not promised is refused: a causal instance, one without the compression it needs, a length that does not fit.
double refused(const AttentionSubject& subject);

}  // namespace ablate::conformance
