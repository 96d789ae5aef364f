// Finding plugins: the libraries in the plugin folders, what each says of itself, and why some are refused.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/registry/catalog.h"
#include "core/registry/folders.h"

namespace ablate {

/// A library that was found: a plugin, or a reason why it is none.
struct FoundLibrary {
  std::filesystem::path path;
  PluginInfo info;      ///< where refusal is empty
  std::string refusal;  ///< one line
  std::vector<std::string> warnings;
};

/// Loads libraries elsewhere (a throw-away process each) and returns for each path PluginInfo as JSON, or {"refusal": reason}
/// for a fault of the descriptor, or {"failed": reason} where it could not be loaded: that may depend on more than the file (a
/// library that it needs), so it is tried again each time; with "late": true where it did not end, after an hour or when its
/// file has changed.
using Inspect = std::function<std::vector<nlohmann::json>(const std::vector<std::filesystem::path>&)>;

/// Lists every *.so in the folders, by folder and name; those that somebody else can have put there are refused (folders.h).
/// What a library says of itself is remembered in the cache folder by its content hash, so `inspect` is called only for
/// libraries that were never seen. Of two with one id the one found first counts.
/// @param cache_file "" for none
std::vector<FoundLibrary> scan(const std::vector<PluginFolder>& folders, const std::string& torch_version,
                               const Inspect& inspect, const std::filesystem::path& cache_file);

/// The plugins of these folders that a scan has found and remembered, as far as their files have not changed since: no library
/// is loaded or read, nothing is written, and what was never seen is left out.
std::vector<PluginInfo> remembered(const std::vector<PluginFolder>& folders, const std::string& torch_version,
                                   const std::filesystem::path& cache_file);

Catalog catalog_of(const std::vector<FoundLibrary>& libraries);

}  // namespace ablate
