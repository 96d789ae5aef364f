// Notices when a plugin library changes on disk while a grid, a check or an audit runs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/records/used_plugin.h"

namespace ablate {

/// A worker maps a library's file into memory. If the file is replaced (another inode, as linkers, installers and `mv` do), the
/// old code stays mapped and runs on, and the trials are recorded under the old code. If the file is overwritten in place, the
/// mapped code changes under the running trials, and none of their results is valid any more.
class LibraryWatch {
 public:
  /// Remembers the current state of the files. Must be called just before a worker loads the files.
  void remember(const std::vector<UsedPlugin>& plugins);

  /// Returns why the results of these plugins are invalid: "PATH was overwritten ..."; "" if they are valid.
  std::string overwritten(const std::vector<UsedPlugin>& plugins);

  /// Returns the libraries of these plugins that were replaced or deleted, and that no earlier call returned.
  std::vector<std::string> newly_replaced(const std::vector<UsedPlugin>& plugins);

 private:
  struct File {
    std::string inode, stamp;  ///< stamp: size and times; if it changes, the content is compared
    bool reported = false, spoilt = false;
  };
  static File look(const std::filesystem::path& path);

  std::map<std::string, File> files_;  ///< by path
};

}  // namespace ablate
