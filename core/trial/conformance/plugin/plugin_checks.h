// Checks of each kind of plugin: their names, for --only and for exemptions, and the functions that run them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

/// Returns every name that a check of any kind of plugin can have (suite.cpp).
std::vector<std::string> check_names();
// Names of the checks in the tables (attention/checks.cpp, compression/checks.cpp, task/checks.cpp, schema_checks.cpp).
std::vector<std::string> attention_check_names();
std::vector<std::string> compression_check_names();
std::vector<std::string> task_check_names();
std::vector<std::string> schema_check_names();

/// Runs every check that the contract or the promises require (docs/checks.md), on small inputs, on the candidate's device.
/// Takes seconds.
void check_attention(const Candidate& candidate, Depth depth, Checks& checks);
/// Does the same for a compression. Takes some 10 s. A run at Depth::kSmall tries no other values of parameters.
void check_compression(const Candidate& candidate, Depth depth, Checks& checks);
/// Runs the check "training": saves a training after three steps, and loads it into a second training. Both then take three
/// steps, and must have the same losses and weights, bit by bit. The data of a bidirectional plugin are sequences with a class.
/// A causal plugin gets a stream in lanes, and examples in segments if it carries a state.
void check_training(const Candidate& candidate, Checks& checks);
/// Checks that some instance reads each parameter, and that each choice makes an instance. Covers all three kinds.
/// @param all candidates of one plugin, each with other plugins among its parameters; not empty
/// @param scratch for a task: folder for the files that it makes
void check_schema(const std::vector<Candidate>& all, const std::filesystem::path& scratch, Checks& checks);

}  // namespace ablate
