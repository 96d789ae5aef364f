// A history whose attempts will be merged into another one.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "core/util/scratch_folder.h"

namespace ablate::db {

/// Checked history of this program's schema. If the file has an earlier schema, a copy in a temporary folder is migrated. The
/// file itself is only read.
class OtherHistory {
 public:
  /// Throws Error if the file is missing, empty, damaged, no run history or of a newer schema. Throws Interrupted on a signal.
  explicit OtherHistory(const std::filesystem::path& file);

  const std::filesystem::path& file() const { return file_; }  ///< path as the user gave it
  /// Returns the history beside which the files of this history's attempts are stored (db/history/artifacts.h). Returns
  /// share-I.db for a share's copy share-I.12ab34cd.db (core/host/shares): each run of a share has a separate copy of the
  /// history, and all runs use the same files. Returns the path of any other history unchanged.
  std::filesystem::path beside() const;
  const std::string& location() const { return location_; }  ///< URI by which SQLite reads the history
  bool is_copied() const { return folder_ != nullptr; }      ///< true if the file has an earlier schema

 private:
  std::filesystem::path file_;
  std::string location_;
  std::unique_ptr<ScratchFolder> folder_;  ///< folder of the copy; nullptr: there is none
};

}  // namespace ablate::db
