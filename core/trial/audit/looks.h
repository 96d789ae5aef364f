// What an audit looks at: free functions, each of which shows a finding what of some splits is to be as expected, and the one
// table that runs them (audit.cpp).
#pragma once

#include <string>

#include "core/trial/conformance/finding.h"
#include "core/trial/conformance/sampled_task.h"

namespace ablate {

/// What stands nearly so in an earlier split (near_duplicates.cpp).
void near_duplicates(const SampledTask& subject, Splits on, Finding& finding);

// labels.cpp
/// Why a split has too few examples for the share that is met to tell anything; "" where it has enough.
std::string too_few_for_positions(const SampledTask& subject, Splits on);
std::string too_few_for_lengths(const SampledTask& subject, Splits on);
void label_at_a_position(const SampledTask& subject, Splits on, Finding& finding);
void label_by_length(const SampledTask& subject, Splits on, Finding& finding);

// rule.cpp
/// Why two splits cannot be compared: train is shorter, and so nothing that was learned there need hold.
std::string too_long(const SampledTask& subject, Splits on);
void one_rule(const SampledTask& subject, Splits on, Finding& finding);

/// What random weights and one answer score (chance.cpp).
void chance_level(const SampledTask& subject, Splits on, Finding& finding);

}  // namespace ablate
