// Where a task keeps what it makes. Torch-free.
#pragma once

#include <filesystem>
#include <string>

namespace ablate {

/// The folder of one plugin's code, PLUGIN/CODE: what other code has made is never found there. While the object lives, in
/// this process and those forked from it, the folder is in use. Where it is new, what former code of the plugin has left is
/// removed, but for the three folders that were used last and those that are in use.
class TaskCache {
 public:
  /// Makes the folder. Throws Error where it cannot.
  /// @param plugin the folder of all of the plugin's codes @param code PluginInfo::code_identity
  TaskCache(const std::filesystem::path& plugin, const std::string& code);
  ~TaskCache();
  TaskCache(const TaskCache&) = delete;
  TaskCache& operator=(const TaskCache&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< the folder, with a shared lock
};

}  // namespace ablate
