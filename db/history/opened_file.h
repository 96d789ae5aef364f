// Whether a run history is still the file that was opened. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/types.h>

#include <filesystem>

namespace ablate::db {

/// A file as it was when this was made.
class OpenedFile {
 public:
  explicit OpenedFile(const std::filesystem::path& file);

  /// Throws Gone where the path no longer leads to that file, its write-ahead log was taken away (another process would begin a
  /// log of its own, and what is in this one would be lost), or the file was emptied or overwritten with what is no database.
  /// SQLite would not see that: while its log has the pages that it needs, it does not look at the file. Nothing is opened for
  /// it, since closing it again would release the locks that SQLite holds for this process.
  /// @param database the connection that has the file open
  void expect_there(SQLite::Database& database);
  /// Whether the path still leads to that file.
  bool is_there() const;

  /// Whether the write-ahead log that lies beside the path is that file's.
  bool has_own_log() const;

  const std::filesystem::path& path() const { return path_; }  ///< absolute, without links: what lies beside it lies there

 private:
  std::filesystem::path path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  ino_t log_ = 0;  ///< the log's inode; 0: there was none yet
};

}  // namespace ablate::db
