// Where a run history lies: what may be opened as one, and whether it is still the file that was opened. Internal to db/.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace ablate::db {

/// Throws Error for what can hold no history: SQLite's names for databases that end with the process ("", ":memory:",
/// "file:..."), and whatever is there and no regular file, told by its kind. Nothing is read.
void check_place(const std::filesystem::path& file);

/// A file as it was when this was made.
class OpenedFile {
 public:
  explicit OpenedFile(const std::filesystem::path& file);

  /// Throws Gone where the path no longer leads to that file, or the file was emptied. The file is not opened for it: closing
  /// it again would release the locks that SQLite holds for this process.
  void expect_there() const;

  const std::filesystem::path& path() const { return path_; }  ///< absolute

 private:
  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace ablate::db
