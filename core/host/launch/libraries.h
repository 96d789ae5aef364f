// Descriptions of plugin libraries. Torch-free: executors load the libraries.
#pragma once

#include <vector>

#include "core/host/client/executors.h"
#include "core/registry/scan.h"

namespace ablate {

/// Returns a library's description, from a job that loads it: a PluginInfo as JSON, {"refusal": reason} or {"failed": reason,
/// "late": true if it did not end}. `executors` stays usable even if the library ends the executor.
nlohmann::json inspect_library(const std::filesystem::path& path, Executors& executors);

/// Returns the libraries in these folders, as scan() of core/registry does. Starts an executor only for a library that is not
/// in the cache. The executor then stays running.
std::vector<FoundLibrary> scan_libraries(const std::vector<PluginFolder>& folders, Executors& executors);

}  // namespace ablate
