// The checks of what an attention computes, whatever it promises: types, lengths, batches, scale.
#pragma once

#include "core/trial/conformance/attention_subject.h"

namespace ablate::conformance {

// Each shows the finding what it sees, or throws std::runtime_error saying what is wrong. All stands are looked at.

/// float32 gives float32, near float64: outputs and gradients, with and without padding, in training, too, and at lengths that
/// cross blocks.
void types(const AttentionSubject& subject, Finding& finding);
/// Fused forms and reference kernels in float32, on one thread and two, and mixed products if this processor
/// has them, of 64 channels. A batch gives what its items give in float64, alone and cut to their lengths: outputs and
/// gradients, padded, causal, over another sequence, over segments, and with dropped weights.
void forms(const AttentionSubject& subject, Finding& finding);
/// 1 to 80 tokens: the right shape, and finite.
void lengths(const AttentionSubject& subject, Finding& finding);
/// 1003 tokens, which no usual block divides: outputs and gradients are finite.
void long_sequence(const AttentionSubject& subject, Finding& finding);
/// What an item gives does not depend on its batch mates: in every type, in training, too, and beyond a block.
void batch(const AttentionSubject& subject, Finding& finding);
/// Inputs of scale 1e4 in float32: outputs and gradients are finite.
void scale(const AttentionSubject& subject, Finding& finding);
/// float16 and bfloat16 against float64 with the same rounded weights and inputs, up to lengths at which a sum kept in half
/// precision stands still, and over as many tokens in segments: outputs, gradients and the last state are no further off than
/// rounding the inputs alone makes float64, times a factor.
void half(const AttentionSubject& subject, Finding& finding);
/// Where all tokens are alike, their number makes no difference, in self- and in cross-attention of another length: the
/// weights of a normalised attention sum to 1 over the keys. Where the values alone are alike, what is read is that value.
void constants(const AttentionSubject& subject, Finding& finding);
/// With rotary positions: none are 0, and each item has its own.
void positions(const AttentionSubject& subject, Finding& finding);
/// Measuring changes no output, and what is measured is a named number.
void measure(const AttentionSubject& subject, Finding& finding);
/// weights(), if some instance reports any (has_weights): a row adds up to 1, or is 0; no weight is on what a query may not
/// see; weights times values, through the output projection, are the output. Padded, over another sequence, and rotary, as
/// promised.
void weights(const AttentionSubject& subject, Finding& finding);
bool has_weights(const AttentionSubject& subject);
/// output_projections(), if there are any: with all of their weights at 0 the output is the sum of their biases.
void projections(const AttentionSubject& subject, Finding& finding);
bool has_projections(const AttentionSubject& subject);
/// What it declares to equal: another plugin with the same weights, outputs and gradients, with and without padding, in float64
/// and float32, in training, too, and at lengths that cross blocks.
void equals(const AttentionSubject& subject, const OracleInfo& oracle, Finding& finding);

}  // namespace ablate::conformance
