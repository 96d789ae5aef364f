// The checks of each kind of plugin: their names, which --only may ask for and an exemption may name, and what runs them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/trial/conformance/engine/candidate.h"
#include "core/trial/conformance/engine/check.h"

namespace ablate {

/// Every name that a check of any kind of plugin can have (suite.cpp).
std::vector<std::string> check_names();
// Names of the tables (attention/checks.cpp, compression/checks.cpp, task/checks.cpp, schema_checks.cpp).
std::vector<std::string> attention_check_names();
std::vector<std::string> compression_check_names();
std::vector<std::string> task_check_names();
std::vector<std::string> schema_check_names();

// Each runs every check that the contract or the promises call for (docs/checks.md), on small inputs, on the candidate's
// device.
/// In seconds.
void check_attention(const Candidate& candidate, Depth depth, Checks& checks);
/// In some 10 s. A small run is of these parameters alone.
void check_compression(const Candidate& candidate, Depth depth, Checks& checks);
/// "training": a training that was saved after three steps is loaded into another; then both take three steps, and must have
/// the same losses and weights, bit by bit. On a class of sequences, or, of an attention that is causal alone or carries a
/// state, on a stream in lanes.
void check_training(const Candidate& candidate, Checks& checks);
/// Checks that some instance reads each parameter, and that each choice makes an instance. For all three kinds. @param all the
/// candidates of one plugin, with other plugins among its parameters each; not empty @param scratch of a task: a folder for
/// what it makes
void check_schema(const std::vector<Candidate>& all, const std::filesystem::path& scratch, Checks& checks);

}  // namespace ablate
