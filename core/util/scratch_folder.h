// A folder for what nobody needs afterwards. Torch-free.
#pragma once

#include <filesystem>

namespace ablate {

/// In the system's folder for temporary files, and removed with this object. A process that is killed leaves its folders: the
/// next one that makes such a folder removes those of this user whose process is gone. The kernel says who lives: a folder is
/// locked (flock) as long as its process is there.
class ScratchFolder {
 public:
  /// Throws Error where none can be made. @param among the folder to make it in; "": the system's for temporary files
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
