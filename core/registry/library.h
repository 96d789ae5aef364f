// Loads a plugin library. Only workers do this: plugin code never runs in the command line's process.
#pragma once

#include <filesystem>

#include "ablate/plugin.h"

namespace ablate {

/// Loads a library through Boost.DLL and returns its descriptor, valid for the rest of the process: a library is never
/// unloaded. The ABI stamp is checked before loading (abi_check.h), and the descriptor's own stamp after it. Throws Error
/// (ExitCode::kPlugin) with the stamp's difference, the loader's full message, or the missing symbol.
const Descriptor& load_library(const std::filesystem::path& path);

}  // namespace ablate
