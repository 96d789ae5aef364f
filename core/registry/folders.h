// Where plugins are looked for and what is remembered of them is kept, and whom a folder is trusted with.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ablate {

struct PluginFolder {
  std::filesystem::path path;
  /// Where the user did not name the folder: its libraries are loaded only if nobody but root, this user and this owner can
  /// have put them there. Nothing: it was named, and what lies in it is meant.
  std::optional<uid_t> owner;
};

/// Where to look, most specific first, without repetition: `extra` (--plugins), ABLATE_PLUGIN_PATH (colon-separated),
/// $XDG_DATA_HOME/ablate/plugins (~/.local/share), and lib/ablate/plugins beside the program's bin folder. Without HOME the
/// home is the user database's; without one there, the user has no folder.
std::vector<PluginFolder> plugin_folders(const std::vector<std::filesystem::path>& extra);

/// $XDG_CACHE_HOME/ablate (~/.cache/ablate); "" where the user has no home, because a folder for all users could be anyone's.
std::filesystem::path cache_folder();

/// The remedy where cache_folder() is "".
inline constexpr const char* kNoCache = "the user has no home folder; set XDG_CACHE_HOME (or HOME) to a folder of yours";

/// Whether its permissions let every user write a file or folder; false where there is none.
bool anyone_can_write(const std::filesystem::path& path);

/// Why a library of a folder is not loaded, with the remedy: somebody else can write it, its folder, or a folder above, or any
/// of these of what it is a link to; "" where nothing speaks against it.
std::string trust_refusal(const PluginFolder& folder, const std::filesystem::path& library);

}  // namespace ablate
