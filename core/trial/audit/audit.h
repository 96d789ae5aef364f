// What a task's data tell without a model: all that `ablate audit` finds. It decides no verdict: `ablate check` looks at what
// the contract asks for.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ablate/task.h"
#include "core/trial/conformance/engine/candidate.h"

namespace ablate {

/// What findings are called, in their order: what an exemption of a task may name, beside the names of checks.
std::vector<std::string> audit_names();

/// Looks at the data of a task. What fails is a failed finding, never an exception; where its examples break the contract,
/// "read" fails alone. What the candidate's exemptions excuse passes.
/// @param loaded of the candidate's parameters, with info() and load() behind it
/// @param scratch a folder for the data of another data_seed
void audit_task(const Candidate& candidate, std::unique_ptr<Task> loaded, const std::filesystem::path& scratch, Checks& checks);

}  // namespace ablate
