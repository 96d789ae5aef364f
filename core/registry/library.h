// Loading a plugin library. Runs in workers only: plugin code never runs in the command line's process.
#pragma once

#include <filesystem>

#include "ablate/plugin.h"

namespace ablate {

/// Loads a library through Boost.DLL and returns its descriptor, valid for the rest of the process: a library is never
/// unloaded. The ABI stamp must have been checked (abi_check.h). Throws Error (ExitCode::kPlugin) with the loader's full
/// message, or naming the symbol that is missing.
const Descriptor& load_library(const std::filesystem::path& path);

}  // namespace ablate
