// Files that a history stores for its attempts, in a folder for each kind beside the history. ablate.db.output/UID.txt has the
// first 10 MB of an attempt's long output, and ablate.db.weights/UID.safetensors its best weights. A later attempt resumes from
// ablate.db.checkpoints/UID-FENCE-TRIAL-STEP.checkpoint. Functions that take an SQLite::Database are internal to db/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "db/types/records.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

inline constexpr const char* kOutput = "output";
inline constexpr const char* kWeights = "weights";

inline constexpr const char* kCheckpoints = "checkpoints";

inline constexpr std::uintmax_t kMostOutputBytes = 1'000'000'000;  ///< limit for all files of output beside one history
/// Limit for all checkpoints of trials that do not run, beside one history.
inline constexpr std::uintmax_t kMostCheckpointBytes = 10'000'000'000;

/// Returns the folder for files of a kind. The folder is missing if there is no such file.
std::filesystem::path artifact_folder(const std::filesystem::path& history, const std::string& kind);
/// @param uid Attempt::uid
/// @return "" if `uid` is no uid, or if an attempt may have several files of this kind
std::filesystem::path artifact_file(const std::filesystem::path& history, const std::string& kind, const std::string& uid);

/// Row of the table `artifact`. Any program may have written the row, so the file is ablate's only if is_ours() is true.
struct ArtifactFile {
  std::string kind, name;
  std::int64_t attempt = 0;
  std::int64_t bytes = 0, of_bytes = 0;  ///< Artifact::bytes, Artifact::of_bytes
  std::int64_t removed_us = 0;           ///< microseconds since 1970, UTC; 0: not removed

  /// True if the kind is known and the name leads to no other folder.
  bool is_ours() const;
  std::filesystem::path in(const std::filesystem::path& history) const { return artifact_folder(history, kind) / name; }
};

struct KeptFiles {
  std::int64_t files = 0;
  std::uintmax_t bytes = 0;
};

/// Returns the output files to remove: the oldest by their last change, until the other files have at most `most_bytes` bytes.
/// Returns none if the folder cannot be read.
std::vector<ArtifactFile> oldest_output(const std::filesystem::path& history, std::uintmax_t most_bytes);

/// Counts the files that exist.
KeptFiles files_there(const std::filesystem::path& history, const std::vector<ArtifactFile>& files);

/// Removes the files that exist, and counts them.
KeptFiles remove_files(const std::filesystem::path& history, const std::vector<ArtifactFile>& files);

/// Copies the files that exist, and counts the copies. Never overwrites a file.
KeptFiles copy_files(const std::filesystem::path& from, const std::filesystem::path& to,
                     const std::vector<ArtifactFile>& files);

/// Returns the existing checkpoints of the trials with these keys. The history may have no row for a checkpoint.
std::vector<ArtifactFile> checkpoints_of(const std::filesystem::path& history, const std::set<std::string>& keys);
/// Checkpoints that GridStore::tidy_checkpoints removes: all checkpoints of done trials, and the oldest of other trials.
struct NeedlessCheckpoints {
  std::vector<ArtifactFile> done, oldest;
};
NeedlessCheckpoints needless_checkpoints(SQLite::Database& database, const std::filesystem::path& history,
                                         const std::set<std::string>& running, std::uintmax_t most_bytes);

/// Returns checkpoints beside another history for trials that are not done in this history. Includes checkpoints of killed
/// attempts that the other history does not record.
std::vector<ArtifactFile> waiting_checkpoints(SQLite::Database& database, const std::filesystem::path& other);

/// All files of a kind beside a history.
struct FilesOfKind : KeptFiles {
  std::string kind;
  std::vector<std::filesystem::path> strays;  ///< files without a row in the history: their attempts still run, or were killed
};
/// Returns the kinds that have files. Throws Error if the history cannot be read (Reader).
std::vector<FilesOfKind> kept_files(const std::filesystem::path& history);

/// Converts the 32 hex digits of a uid to 16 bytes. Returns "" if `uid` is no uid.
std::string bytes_of_uid(const std::string& uid);
void put_artifacts(SQLite::Database& database, std::int64_t attempt, const Attempt& of);
/// @param attempts SQL condition on the attempt's id: "IN (...)" or "= 7"
std::vector<ArtifactFile> artifacts_of(SQLite::Database& database, const std::string& attempts);
/// @param done keys of done trials, each with the id of a done attempt
/// @return the keys of trials that have kept weights
std::set<std::string> keys_with_weights(SQLite::Database& database, const std::map<std::string, std::int64_t>& done);
void mark_removed(SQLite::Database& database, const std::vector<ArtifactFile>& files);

}  // namespace ablate::db
