// Where a share's files lie: its history on this machine, and what of it all machines see.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/util/error.h"

namespace ablate {

/// lm.shares beside lm.toml.
std::filesystem::path default_shared_folder(const std::filesystem::path& study);

/// A run of a share has a copy of its history in the shared folder, share-3.12ab34cd.db, which no other run writes to. Output,
/// weights and checkpoints of all runs lie beside share-3.db (OtherHistory::beside).
std::filesystem::path copy_of_share(const std::filesystem::path& shared, int index, const std::string& run);
std::filesystem::path files_of_share(const std::filesystem::path& shared, int index);
/// Those that are there.
std::vector<std::filesystem::path> copies_of_share(const std::filesystem::path& shared, int index);
/// Eight hex digits that no other run has.
std::string new_run();
/// Where one share says how it ended, and all of them of which plan they are.
std::filesystem::path end_of_share(const std::filesystem::path& shared, int index);
std::filesystem::path plan_of_shares(const std::filesystem::path& shared);
inline constexpr const char* kFolderId = "folder";  ///< in the plan: a random text that no other shared folder has

/// Recognises the shared folder while a share runs. If its file system is unmounted, another folder has its name, or none has.
class SharedFolderMark {
 public:
  /// Remembers the folder as it is now.
  explicit SharedFolderMark(std::filesystem::path shared);
  /// Throws Error (kAgain) unless the folder of this name is the same. A folder that was mounted anew is the same if its plan
  /// has the same id.
  void expect();

 private:
  std::filesystem::path shared_;
  std::string place_;  ///< device and inode
  std::string id_;     ///< of the plan in it; "": it has none, or one of an earlier version
};

/// How a share ended that was not stopped.
struct ShareEnd {
  int done = 0, failed = 0;  ///< trials; failed: whatever is not done
  std::string plan;          ///< digest of the plan that it was a share of
};
/// Throws Error where it cannot be written.
void write_end(const std::filesystem::path& file, const ShareEnd& end);
/// @return false where there is none, or of another plan
bool read_end(const std::filesystem::path& file, const std::string& plan, ShareEnd& into);

/// Error of a write that failed. Its code is kAgain if the disk is full or a quota is used up: once there is room, the same
/// command goes on.
Error not_written(const std::string& what, std::error_code why);

/// The folder on this machine in which the histories of a shared folder's shares lie: in $SLURM_TMPDIR, else $TMPDIR, else the
/// system's folder for temporary files. Several runs of a share on one machine share the history as any two runs do, so that
/// the folder is there as long as one of them needs it; what a killed one has left, the next one goes on with.
class ShareFolder {
 public:
  /// Makes it. Throws Error where that cannot be, or where somebody else's folder bears its name.
  ShareFolder(const std::filesystem::path& shared, int index);
  /// Leaves the files, for the next run of the share here, unless is_copied() was called.
  ~ShareFolder();
  ShareFolder(const ShareFolder&) = delete;
  ShareFolder& operator=(const ShareFolder&) = delete;

  std::filesystem::path history() const;
  /// All of it is in the shared folder: what is here goes with this object, unless another run still needs it.
  void is_copied() { is_copied_ = true; }

 private:
  void take_lock();

  std::filesystem::path folder_;
  int index_, lock_ = -1;
  bool is_copied_ = false;
};

}  // namespace ablate
