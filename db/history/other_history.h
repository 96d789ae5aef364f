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
  /// Returns the history that has this history's files (db/history/artifacts.h). It is share-I.db if this history is a share's
  /// copy share-I.12ab34cd.db (core/host/shares), else this history itself. Each run of a share has a separate copy, and all
  /// runs use the same files.
  std::filesystem::path beside() const;
  const std::string& location() const { return location_; }  ///< URI by which SQLite reads the history
  bool is_copied() const { return folder_ != nullptr; }      ///< true if the file has an earlier schema

 private:
  std::filesystem::path file_;
  std::string location_;
  std::unique_ptr<ScratchFolder> folder_;  ///< folder of the copy; nullptr: there is none
};

}  // namespace ablate::db
