// The files that SQLite keeps beside a run history, FILE-wal and FILE-shm.
#pragma once

#include <filesystem>

namespace ablate::db {

/// Made before a file is opened for reading and gone after it is closed: where that fails, as in a damaged file, it leaves
/// nothing beside it that was not there. Of a reader that is answered they stay (docs/database.md).
class FilesBeside {
 public:
  explicit FilesBeside(const std::filesystem::path& file);
  /// An exception that was not under way when it was made means failure.
  ~FilesBeside();
  FilesBeside(const FilesBeside&) = delete;
  FilesBeside& operator=(const FilesBeside&) = delete;

 private:
  std::filesystem::path file_;
  bool were_there_;
  int exceptions_;
};

}  // namespace ablate::db
