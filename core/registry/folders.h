// Folders of plugins and of the cache, and the rules by which a plugin folder is trusted.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ablate {

struct PluginFolder {
  std::filesystem::path path;
  /// Owner of a folder that the user did not name. Its libraries are loaded only if no user except root, this user and this
  /// owner can have written them. nullopt: the user named the folder, and all its libraries are loaded.
  std::optional<uid_t> owner;
};

/// Returns the folders to search, most specific first, without repetition: `extra` (--plugins), ABLATE_PLUGIN_PATH
/// (colon-separated), $XDG_DATA_HOME/ablate/plugins (~/.local/share), and lib/ablate/plugins beside the program's bin folder.
/// Without HOME, the home is taken from the user database. If the user has no home, the folder below the home is left out.
std::vector<PluginFolder> plugin_folders(const std::vector<std::filesystem::path>& extra);

/// $XDG_CACHE_HOME/ablate (~/.cache/ablate); "" if the user has no home: other users could write in a folder like /tmp.
std::filesystem::path cache_folder();

/// The remedy if cache_folder() is "".
inline constexpr const char* kNoCache = "the user has no home folder; set XDG_CACHE_HOME (or HOME) to a folder of yours";

/// True if every user may write the file or folder; false if it is missing.
bool anyone_can_write(const std::filesystem::path& path);

/// Returns why a library of a folder is not loaded, with the remedy, or "" if it may be loaded. The reason is that another user
/// can write the library, its folder or a folder above. If one of these is a link, its target is checked in the same way.
std::string trust_refusal(const PluginFolder& folder, const std::filesystem::path& library);

}  // namespace ablate
