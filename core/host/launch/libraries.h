// What plugin libraries say of themselves. Torch-free: executors load them.
#pragma once

#include <vector>

#include "core/host/client/executors.h"
#include "core/registry/scan.h"

namespace ablate {

/// What a library says of itself, from a job that loads it: a PluginInfo as JSON, {"refusal": reason} or {"failed": reason,
/// "late": whether it did not end}. Whatever the library does to the executor, `executors` is usable afterwards.
nlohmann::json inspect_library(const std::filesystem::path& path, Executors& executors);

/// The libraries in these folders, as scan() of core/registry gives them. An executor is started only where a library was never
/// seen before, and stays.
std::vector<FoundLibrary> scan_libraries(const std::vector<PluginFolder>& folders, Executors& executors);

}  // namespace ablate
