// Another history into this one.
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

/// Done trials that tables of an experiment leave out since a merge, because only the earlier of two grids lists them.
struct LeftOut {
  std::string experiment;
  std::int64_t trials = 0;
  std::string file;                    ///< of the earlier grid's study
  std::vector<std::string> overrides;  ///< with which it ran
};

/// What a merge brought.
struct Merged {
  std::int64_t attempts = 0;  ///< that were not there
  std::int64_t trials = 0;    ///< that these are attempts at
  std::int64_t known = 0;     ///< attempts that were there already
  std::vector<std::string> unlike =
      {};                           ///< trials that got attempts, and whose attempts differ in numbers (UnlikeAttempts::text)
  OtherNumbers other_numbers = {};  ///< of attempts that were there already; the numbers that were there stay
  std::vector<LeftOut> left_out = {};
  /// Files of all attempts of the other history that lacked here, but for removed ones: an earlier merge may have been cut off
  /// before it copied them.
  std::vector<ArtifactFile> lacked = {};
  KeptFiles copied = {};  ///< of these
};

/// Takes from a history that is attached as `other` all that the main one lacks. If both have a thing and it differs, the
/// result does not depend on the direction of the merge. Of grids, settings, definitions and verdicts the latest stays.
/// Internal to db/: within the caller's transaction. Throws SQLite::Exception, and Error if a metric has another unit or better
/// end there.
/// @param other the file as it was named, for messages
Merged merge_attached(SQLite::Database& database, const std::filesystem::path& other);

}  // namespace ablate::db
