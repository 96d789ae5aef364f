// Loading a plugin library. Runs in workers only: plugin code never runs in the command line's process.
#pragma once

#include <filesystem>

#include "ablate/plugin.h"

namespace ablate {

/// Loads a library through Boost.DLL and returns its descriptor, valid for the rest of the process: a library is never
/// unloaded. The ABI stamp is checked before (abi_check.h), and the descriptor's own after. Throws Error (ExitCode::kPlugin)
/// with the stamp's difference, the loader's full message, or the symbol that is missing.
const Descriptor& load_library(const std::filesystem::path& path);

}  // namespace ablate
