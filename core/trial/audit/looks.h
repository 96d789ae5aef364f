// Findings of an audit, one function each. A function examines one or two splits and reports to a Finding (table: audit.cpp).
#pragma once

#include <string>

#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/task/sampled_task.h"

namespace ablate {

/// Finds examples that are nearly the same as an example of an earlier split (near_duplicates.cpp).
void near_duplicates(const SampledTask& subject, Splits on, Finding& finding);

// labels.cpp
/// Returns why a split has too few examples to judge, or "" if it has enough.
std::string too_few_for_positions(const SampledTask& subject, Splits on);
std::string too_few_for_lengths(const SampledTask& subject, Splits on);
void label_at_a_position(const SampledTask& subject, Splits on, Finding& finding);
/// Checks pairs of positions in examples that have one label each (two_positions.cpp).
void label_at_two_positions(const SampledTask& subject, Splits on, Finding& finding);
void label_by_length(const SampledTask& subject, Splits on, Finding& finding);
/// Checks how often one fixed answer to all examples is right.
void chance_level(const SampledTask& subject, Splits on, Finding& finding);

// rule.cpp
/// Returns why two splits cannot be compared, or "". A rule learned on train need not hold for longer sequences.
std::string too_long(const SampledTask& subject, Splits on);
void one_rule(const SampledTask& subject, Splits on, Finding& finding);

}  // namespace ablate
