// A temporary folder. Torch-free.
#pragma once

#include <filesystem>

namespace ablate {

/// Folder in the system's folder for temporary files, removed with this object. A process that is killed leaves its folders.
/// The next process that makes a folder removes this user's abandoned folders. A folder is locked (flock) while its process
/// exists, so the kernel shows which folders are abandoned.
class ScratchFolder {
 public:
  /// Throws Error if no folder can be made. `among` is the parent folder; "": the system's folder for temporary files
  explicit ScratchFolder(const std::filesystem::path& among = {});
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;  ///< descriptor of the folder
};

}  // namespace ablate
