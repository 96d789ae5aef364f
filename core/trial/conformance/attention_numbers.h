// The checks of what an attention computes, whatever it promises: types, lengths, gradients, batches, scale.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each returns an error as Checks::Measure does, or throws std::runtime_error saying what is wrong. All stands are looked at.

/// float32 gives float32, near float64.
double types(const AttentionSubject& subject);
/// 1 to 80 tokens: the right shape, and finite.
double lengths(const AttentionSubject& subject);
/// 1003 tokens, which no usual block divides: the right shape, and finite.
double long_sequence(const AttentionSubject& subject);
/// Central differences along one random direction for every parameter and input, relative to the gradient's own size.
double gradient(const AttentionSubject& subject);
/// An item among mates 100 times as large and as small gives what it gives alone.
double batch(const AttentionSubject& subject);
/// Inputs of scale 1e4 in float32: outputs and gradients are finite.
double scale(const AttentionSubject& subject);
/// float16 and bfloat16: near float32, relative to the output's size; gradients and inputs of scale 1e4 finite.
double half(const AttentionSubject& subject);
/// Where all tokens are alike, their number makes no difference: the weights of a normalised attention sum to 1.
double constants(const AttentionSubject& subject);
/// With rotary positions: none are 0, and each item has its own.
double positions(const AttentionSubject& subject);
/// Measuring changes no output, and what is measured is a named number.
double measure(const AttentionSubject& subject);

}  // namespace ablate::conformance
