// Folder for files that a task makes. Torch-free.
#pragma once

#include <filesystem>
#include <string>

namespace ablate {

/// Folder PLUGIN/CODE for one version of a plugin's code, without files of other versions. The folder is in use while the
/// object lives, in this process and in processes forked from it. Making a new folder removes folders of former versions,
/// except the three that were used last and folders in use.
class TaskCache {
 public:
  /// Makes the folder of `code` (PluginInfo::code_identity) in `plugin`, the plugin's own folder. Throws Error on failure.
  TaskCache(const std::filesystem::path& plugin, const std::string& code);
  ~TaskCache();
  TaskCache(const TaskCache&) = delete;
  TaskCache& operator=(const TaskCache&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< descriptor of the folder, with a shared lock
};

}  // namespace ablate
