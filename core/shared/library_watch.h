// Notices when a plugin library changes on disk while a grid, a check or an audit runs.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "core/records/used_plugin.h"

namespace ablate {

/// A worker maps a library's file into memory. Where the file is replaced (another inode: what linkers, installers and `mv`
/// do), the old code stays mapped and goes on running, and is what the trials are recorded under. Where it is overwritten in
/// place, the mapped code changes beneath the trials, and none of their results can be believed any more.
class LibraryWatch {
 public:
  /// Remembers the files as they are, just before a worker loads them.
  void remember(const std::vector<UsedPlugin>& plugins);

  /// Why what these plugins gave cannot be believed: "PATH was overwritten ..."; "" where they can.
  std::string overwritten(const std::vector<UsedPlugin>& plugins);

  /// The libraries among these that were replaced or deleted, each told once.
  std::vector<std::string> newly_replaced(const std::vector<UsedPlugin>& plugins);

 private:
  struct File {
    std::string inode, stamp;  ///< the stamp: size and times, which say when to compare the content
    bool told = false, spoilt = false;
  };
  static File look(const std::filesystem::path& path);

  std::map<std::string, File> files_;  ///< by path
};

}  // namespace ablate
