// The files FILE-wal and FILE-shm that SQLite creates beside a run history.
#pragma once

#include <filesystem>

namespace ablate::db {

/// Guard around a read of a history. It must be constructed before the history is opened, and destroyed after it is closed. If
/// the read fails, the guard removes the files that SQLite has created. A successful read keeps the files (docs/database.md).
class FilesBeside {
 public:
  explicit FilesBeside(const std::filesystem::path& file);
  /// Treats an exception that was thrown since construction as a failed read.
  ~FilesBeside();
  FilesBeside(const FilesBeside&) = delete;
  FilesBeside& operator=(const FilesBeside&) = delete;

 private:
  std::filesystem::path file_;
  bool were_there_;
  int exceptions_;
};

}  // namespace ablate::db
