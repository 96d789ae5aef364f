// Merges another history into this one.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "db/history/artifacts.h"
#include "db/history/unlike_attempts.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

/// Done trials that an experiment's tables leave out after a merge, because only the earlier of two grids lists them.
struct LeftOut {
  std::string experiment;
  std::int64_t trials = 0;
  std::string file;                    ///< study file of the earlier grid
  std::vector<std::string> overrides;  ///< overrides of the earlier grid
};

/// Result of a merge.
struct Merged {
  std::int64_t attempts = 0;             ///< new attempts
  std::int64_t trials = 0;               ///< trials of the new attempts
  std::int64_t known = 0;                ///< attempts that were already here
  std::vector<std::string> unlike = {};  ///< UnlikeAttempts::text for trials with new attempts and unlike numbers
  OtherNumbers other_numbers = {};       ///< known attempts with other numbers in the other history; no number here changes
  std::vector<LeftOut> left_out = {};
  /// Files of the other history's attempts that are missing here, except files that were removed. Includes files from earlier
  /// merges: such a merge may have stopped before it copied the files.
  std::vector<ArtifactFile> lacked = {};
  KeptFiles copied = {};  ///< copied files of `lacked`
};

/// Copies everything that the main history lacks from the history attached as `other`. If grids, settings, definitions or
/// verdicts of the two histories differ, the latest stays, so the result does not depend on the direction of the merge.
/// Internal to db/: within the caller's transaction. Throws SQLite::Exception, and Error if a metric has different units or
/// directions in the two histories.
/// @param other the other file's path as the user gave it, for messages
Merged merge_attached(SQLite::Database& database, const std::filesystem::path& other);

}  // namespace ablate::db
