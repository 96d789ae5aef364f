// What a plugin's schema declares: each parameter is read by some instance, and each choice makes one. Of all three kinds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/trial/conformance/candidate.h"
#include "core/trial/conformance/check.h"

namespace ablate {

std::vector<std::string> schema_check_names();

/// @param all the candidates of one plugin, with other plugins among its parameters each; not empty @param scratch of a task: a
/// folder for what it makes
void check_schema(const std::vector<Candidate>& all, const std::filesystem::path& scratch, Checks& checks);

}  // namespace ablate
