// Plugin folders that a user has named, for suggested commands.
#pragma once

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/registry/folders.h"
#include "core/util/shell_word.h"

namespace ablate {

/// Returns " --plugins build --plugins 'my plugins'", for the end of a command that must find the same plugins; "" for none.
inline std::string plugin_options(const std::vector<std::string>& folders) {
  std::string text;
  for (const auto& folder : folders) text += " --plugins " + shell_word(folder);
  return text;
}

/// Also names the folders of libraries that still exist, unless the plugin folders include them already.
inline std::string plugin_options(std::vector<std::string> folders, const std::set<std::filesystem::path>& libraries) {
  namespace fs = std::filesystem;
  std::error_code none;
  for (const auto& library : libraries) {
    const auto folder = library.parent_path();
    const auto looked_at = plugin_folders({folders.begin(), folders.end()});
    if (library.is_absolute() && fs::is_regular_file(library, none) &&
        std::none_of(looked_at.begin(), looked_at.end(),
                     [&](const auto& known) { return fs::equivalent(known.path, folder, none); }))
      folders.push_back(folder.string());
  }
  return plugin_options(folders);
}

}  // namespace ablate
