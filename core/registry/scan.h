// Finds plugins: lists the libraries in the plugin folders with their descriptions or the reasons why they are refused.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/registry/catalog.h"
#include "core/registry/folders.h"

namespace ablate {

/// Library that was found: a plugin, or a refusal with its reason.
struct FoundLibrary {
  std::filesystem::path path;
  PluginInfo info;      ///< set if refusal is empty
  std::string refusal;  ///< one line
  std::vector<std::string> warnings;
};

/// Loads each library in its own throw-away process. Returns for each path a PluginInfo as JSON, {"refusal": reason} for a
/// fault of the descriptor, or {"failed": reason} if the library could not be loaded. A failure may have a cause outside the
/// file (a missing library), so the library is tried again at every scan. With "late": true the library did not load in time,
/// and is tried again after an hour or when the file has changed.
using Inspect = std::function<std::vector<nlohmann::json>(const std::vector<std::filesystem::path>&)>;

/// Lists every *.so in the folders, by folder and name. Libraries that another user can have written are refused (folders.h).
/// The cache stores each answer by the library's content hash, so `inspect` is called only for unknown libraries. If two
/// plugins have the same kind and id, the second is refused.
/// @param cache_file "": no cache
std::vector<FoundLibrary> scan(const std::vector<PluginFolder>& folders, const std::string& torch_version,
                               const Inspect& inspect, const std::filesystem::path& cache_file);

/// Returns the plugins of these folders that an earlier scan stored in the cache and whose files have not changed since. Loads
/// and reads no library, writes nothing, and leaves out unknown libraries.
std::vector<PluginInfo> remembered(const std::vector<PluginFolder>& folders, const std::string& torch_version,
                                   const std::filesystem::path& cache_file);

Catalog catalog_of(const std::vector<FoundLibrary>& libraries);

}  // namespace ablate
