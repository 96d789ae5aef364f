// Findings of `ablate audit` about a task's data. They need no model. They are no verdicts: verdicts come from `ablate check`.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ablate/task.h"
#include "core/trial/conformance/engine/candidate.h"

namespace ablate {

/// Returns the names of the findings, in their order. A task's exemption may name a finding or a check.
std::vector<std::string> audit_names();

/// Examines the data of a task. A failure is a failed finding, never an exception. If examples break the contract, only
/// "read" fails. A fault passes if an exemption of the candidate excuses it.
/// @param loaded task with the candidate's parameters, after info() and load()
/// @param scratch folder for the data of another data_seed
void audit_task(const Candidate& candidate, std::unique_ptr<Task> loaded, const std::filesystem::path& scratch, Checks& checks);

}  // namespace ablate
