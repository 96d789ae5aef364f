// The files that a history keeps of its attempts, each kind in a folder beside it: ablate.db.output/UID.txt has all that an
// attempt printed, ablate.db.weights/UID.safetensors its best weights, ablate.db.checkpoints/UID-FENCE-TRIAL-STEP.checkpoint
// what another one goes on from. What SQLite needs is internal to db/.
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

inline constexpr std::uintmax_t kMostOutputBytes = 1'000'000'000;  ///< of all files of output beside one history
/// Of all checkpoints beside one history of trials that do not run.
inline constexpr std::uintmax_t kMostCheckpointBytes = 10'000'000'000;

/// Where the files of a kind lie. It is there as soon as there is one.
std::filesystem::path artifact_folder(const std::filesystem::path& history, const std::string& kind);
/// @param uid Attempt::uid @return "" where it is none, and of a kind of which an attempt may have several
std::filesystem::path artifact_file(const std::filesystem::path& history, const std::string& kind, const std::string& uid);

/// As the table has it. A history may be of anybody: what its rows say is a file of ours only where is_ours says so.
struct ArtifactFile {
  std::string kind, name;
  std::int64_t attempt = 0;
  std::int64_t bytes = 0, of_bytes = 0;
  std::int64_t removed_us = 0;  ///< since 1970, UTC; 0: nobody has removed it

  /// Of a kind that is known, and a name that leads nowhere else.
  bool is_ours() const;
  std::filesystem::path in(const std::filesystem::path& history) const { return artifact_folder(history, kind) / name; }
};

struct KeptFiles {
  std::int64_t files = 0;
  std::uintmax_t bytes = 0;
};

/// The oldest of all files of output, by their last change: those without which the rest has at most so many bytes. None where
/// the folder cannot be read.
std::vector<ArtifactFile> oldest_output(const std::filesystem::path& history, std::uintmax_t most_bytes);

/// What is there of them.
KeptFiles files_there(const std::filesystem::path& history, const std::vector<ArtifactFile>& files);

/// Removes what is there of them. @return what was
KeptFiles remove_files(const std::filesystem::path& history, const std::vector<ArtifactFile>& files);

/// Copies those that are there; one that is in the other place already stays as it is. @return what came
KeptFiles copy_files(const std::filesystem::path& from, const std::filesystem::path& to,
                     const std::vector<ArtifactFile>& files);

/// Checkpoints that are there of these trials, whether or not an attempt has them. @param keys of the trials
std::vector<ArtifactFile> checkpoints_of(const std::filesystem::path& history, const std::set<std::string>& keys);
/// Those that GridStore::tidy_checkpoints removes: of trials that are done, and the oldest of the rest.
struct NeedlessCheckpoints {
  std::vector<ArtifactFile> done, oldest;
};
NeedlessCheckpoints needless_checkpoints(SQLite::Database& database, const std::filesystem::path& history,
                                         const std::set<std::string>& running, std::uintmax_t most_bytes);

/// Checkpoints beside another history from which a trial may go on that is not done in this one: of attempts that were recorded
/// there, and of what was killed before.
std::vector<ArtifactFile> waiting_checkpoints(SQLite::Database& database, const std::filesystem::path& other);

/// All files of a kind that lie beside a history.
struct FilesOfKind : KeptFiles {
  std::string kind;
  std::vector<std::filesystem::path> strays;  ///< of them those that no attempt has: of what runs now, or was killed
};
/// A kind a row, without those that have no file. Throws Error as Reader does.
std::vector<FilesOfKind> kept_files(const std::filesystem::path& history);

/// 16 bytes; "" of what is no uid.
std::string bytes_of_uid(const std::string& uid);
void put_artifacts(SQLite::Database& database, std::int64_t attempt, const Attempt& of);
/// @param attempts "IN (...)" or "= 7": SQL behind the column
std::vector<ArtifactFile> artifacts_of(SQLite::Database& database, const std::string& attempts);
/// @param done keys with an attempt that is done @return those whose trials have kept weights
std::set<std::string> keys_with_weights(SQLite::Database& database, const std::map<std::string, std::int64_t>& done);
void mark_removed(SQLite::Database& database, const std::vector<ArtifactFile>& files);

}  // namespace ablate::db
