// Checks of an attention, one function each. Each check reports to the finding, or throws std::runtime_error with the fault.
// docs/checks.md describes the requirement of each check.
#pragma once

#include <map>

#include "core/trial/conformance/attention/subject.h"
#include "core/trial/conformance/engine/lengths.h"

namespace ablate::conformance {

using AttentionLook = void(const AttentionSubject& subject, Finding& finding);

// attention/numbers.cpp
AttentionLook types, lengths, long_sequence, batch, scale, constants, positions, measure;
/// Checks that the attention equals the other plugin that it declares as its oracle, with the same weights.
void equals(const AttentionSubject& subject, const OracleInfo& oracle, Finding& finding);

AttentionLook forms;                 // attention/forms.cpp
AttentionLook half;                  // attention/half.cpp
AttentionLook weights, projections;  // attention/weights.cpp
bool has_weights(const AttentionSubject& subject);
bool has_projections(const AttentionSubject& subject);

// attention/gradients.cpp
AttentionLook gradient, additive, trained, auxiliary;
/// Checks gradients by central differences along one direction in all parameters and inputs at once. Checks each gradient
/// separately if this fails or if `each` is true, so that the finding names the wrong gradient. If a discrete choice changes
/// within a step, other tokens are tried. If a choice changes for those tokens, too, the finding notes an unchecked gradient.
void differences(const Instance& instance, const Pass& pass, bool each, const std::string& where, Finding& finding);

AttentionLook instances, seed, evaluation, inputs, calls, threads, save, step, kept;  // attention/instances.cpp

// attention/context.cpp
AttentionLook padding, poison, empty, cross, query_mask, two_masks, holes;
/// Checks each item of a padded batch against a run of this item alone, cut to its length.
/// @param many true for many items: leaves out the runs of each item as a batch of one
void padding_of(const AttentionSubject& subject, const Setting& setting, const std::vector<std::int64_t>& lengths, bool cross,
                bool many, Finding& finding);

AttentionLook causal, bidirectional, refused, causal_borders, causal_prefixes;  // attention/future.cpp
AttentionLook reach, reach_everywhere;                                          // attention/reach.cpp
AttentionLook weight_dropout, dropout_draws;                                    // attention/dropout.cpp
AttentionLook state, state_far, start, state_padding, recurrent;                // attention/state.cpp

// Checks at lengths where code with blocks takes different paths, and beyond the long lengths (attention/lengths.cpp). Each
// function's name contains the name of the check that it extends. These functions run at full depth only.
AttentionLook padding_of_many, batch_of_many, gradient_of_few, beyond_long, recurrent_beyond, state_beyond;
/// Returns the longest length that the check "long" covers at each place, as CheckedLengths.
std::map<std::string, std::int64_t> lengths_looked_at(const AttentionSubject& subject);

}  // namespace ablate::conformance
