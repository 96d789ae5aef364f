// A history whose attempts are to go into another one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/util/scratch_folder.h"

namespace ablate::db {

/// Looked through, and of this program's schema: where the file has an earlier one, a copy of it in a folder for temporary
/// files is brought up to date. The file itself is only read.
class OtherHistory {
 public:
  /// Throws Error: no such file, no run history, an empty one, a newer schema, damaged; Interrupted.
  explicit OtherHistory(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }  ///< as it was named
  /// The history whose files of attempts (db/history/artifacts.h) are this one's: itself, or share-I.db of a copy that is
  /// named share-I.12ab34cd.db, as those of a share are (core/host/shares): a run of the share has a copy each, and the files
  /// are of all.
  std::filesystem::path beside() const;
  const std::string& location() const { return location_; }  ///< the URI by which SQLite reads it
  bool is_copied() const { return folder_ != nullptr; }      ///< since the file has an earlier schema

 private:
  std::filesystem::path file_;
  std::string location_;
  std::unique_ptr<ScratchFolder> folder_;  ///< of the copy; nullptr: there is none
};

}  // namespace ablate::db
