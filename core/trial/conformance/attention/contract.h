// The checks of an attention, a function each. Each shows the finding what it sees, or throws std::runtime_error saying what is
// wrong. docs/checks.md says what each demands.
#pragma once

#include <map>

#include "core/trial/conformance/attention/subject.h"
#include "core/trial/conformance/engine/lengths.h"

namespace ablate::conformance {

using AttentionLook = void(const AttentionSubject& subject, Finding& finding);

// attention/numbers.cpp
AttentionLook types, lengths, long_sequence, batch, scale, constants, positions, measure;
/// Checks the equality with another plugin of the same weights that the attention declares.
void equals(const AttentionSubject& subject, const OracleInfo& oracle, Finding& finding);

AttentionLook forms;                 // attention/forms.cpp
AttentionLook half;                  // attention/half.cpp
AttentionLook weights, projections;  // attention/weights.cpp
bool has_weights(const AttentionSubject& subject);
bool has_projections(const AttentionSubject& subject);

// attention/gradients.cpp
AttentionLook gradient, additive, trained, auxiliary;
/// Checks gradients by central differences along one direction in all parameters and inputs at once. Checks each alone if that
/// fails or `each` is true, so that the finding names the wrong one. If a choice changes within a step, other tokens are tried.
/// If one changes for all tokens, the finding notes that this gradient is unchecked.
void differences(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding);

AttentionLook instances, seed, evaluation, inputs, calls, threads, save, step, kept;  // attention/instances.cpp

// attention/context.cpp
AttentionLook padding, poison, empty, cross, query_mask, two_masks, holes;
/// Items of one padded batch, each against itself cut to its length. @param many of them: then none is a batch of one as well
void padding_of(const AttentionSubject& subject, const Setting& setting, const std::vector<std::int64_t>& lengths, bool cross,
                bool many, Finding& finding);

AttentionLook causal, bidirectional, refused, causal_borders, causal_prefixes;  // attention/future.cpp
AttentionLook reach, reach_everywhere;                                          // attention/reach.cpp
AttentionLook weight_dropout, dropout_draws;                                    // attention/dropout.cpp
AttentionLook state, state_far, start, state_padding, recurrent;                // attention/state.cpp

// Checks at lengths where code with blocks takes other paths, and beyond long ones (attention/lengths.cpp). Each extends the
// check whose name its own begins with, at full depth alone.
AttentionLook padding_of_many, batch_of_many, gradient_of_few, beyond_long, recurrent_beyond, state_beyond;
/// Returns the lengths up to which "long" looks, as CheckedLengths.
std::map<std::string, std::int64_t> lengths_looked_at(const AttentionSubject& subject);

}  // namespace ablate::conformance
