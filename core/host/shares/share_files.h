// Paths of a share's files: its history on this machine, and its files in the shared folder, which all machines see.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "core/util/error.h"

namespace ablate {

/// Returns the default shared folder: lm.shares beside lm.toml.
std::filesystem::path default_shared_folder(const std::filesystem::path& study);

/// Path of a run's copy of its history in the shared folder, share-3.12ab34cd.db. No other run writes to it. Output, weights
/// and checkpoints of all runs are beside the path that files_of_share() returns, share-3.db (OtherHistory::beside).
std::filesystem::path copy_of_share(const std::filesystem::path& shared, int index, const std::string& run);
std::filesystem::path files_of_share(const std::filesystem::path& shared, int index);
/// Returns the copies that exist.
std::vector<std::filesystem::path> copies_of_share(const std::filesystem::path& shared, int index);
/// Returns eight random hex digits.
std::string new_run();
/// Paths of the file that records how one share ended, and of the plan for all shares.
std::filesystem::path end_of_share(const std::filesystem::path& shared, int index);
std::filesystem::path plan_of_shares(const std::filesystem::path& shared);
inline constexpr const char* kFolderId =
    "folder";  ///< key in the plan; its value is a random text, different for each shared folder

/// Recognises the shared folder while a share runs. If it is unmounted, its path may lead to another folder, or to no folder.
class SharedFolderMark {
 public:
  /// Records the folder's present identity.
  explicit SharedFolderMark(std::filesystem::path shared);
  /// Throws Error (kAgain) unless the folder of this name is still the recorded folder. A folder that was mounted anew is the
  /// same if its plan has the same id.
  void expect();

 private:
  std::filesystem::path shared_;
  std::string place_;  ///< device and inode
  std::string id_;     ///< id in the folder's plan; "": it has no plan, or a plan of an earlier version
};

/// Result of a share that ran to its end.
struct ShareEnd {
  int done = 0, failed = 0;  ///< trials; failed: all trials that are not done
  std::string plan;          ///< digest of the plan that has the share
};
/// Throws Error if the file cannot be written.
void write_end(const std::filesystem::path& file, const ShareEnd& end);
/// Returns false if the file is missing, or belongs to another plan.
bool read_end(const std::filesystem::path& file, const std::string& plan, ShareEnd& into);

/// Returns the error of a failed write. Its code is kAgain if the disk or a quota is full: the same command continues later.
Error not_written(const std::string& what, std::error_code why);

/// Folder on this machine for the histories of a shared folder's shares: in $SLURM_TMPDIR, else $TMPDIR, else the system's
/// folder for temporary files. Several runs of a share on one machine use one history. The folder exists while a run needs it.
/// The next run continues with the files of a killed run.
class ShareFolder {
 public:
  /// Makes the folder. Throws Error if that fails, or if another user's folder has the same name.
  ShareFolder(const std::filesystem::path& shared, int index);
  /// Leaves the files for the share's next run on this machine, unless is_copied() was called.
  ~ShareFolder();
  ShareFolder(const ShareFolder&) = delete;
  ShareFolder& operator=(const ShareFolder&) = delete;

  std::filesystem::path history() const;
  /// Records that the shared folder has all files. The destructor then removes local files, unless another run needs them.
  void is_copied() { is_copied_ = true; }

 private:
  void take_lock();

  std::filesystem::path folder_;
  int index_, lock_ = -1;
  bool is_copied_ = false;
};

}  // namespace ablate
