// Copies a share's history to the shared folder, which all machines see.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/shares/share_files.h"
#include "core/util/clock.h"

namespace ablate {

/// The history is on this machine. The shared folder has only complete copies, and files of attempts. No process opens a copy
/// for writing. Each run of a share writes its own copy, so no run replaces another run's copy. A run merges the copies that it
/// finds into its history, and removes them once its own copy is written. For one thread only.
class SharedCopy {
 public:
  using Note = std::function<void(const std::string& line)>;

  /// @param history on this machine
  /// @param shared the folder
  SharedCopy(std::filesystem::path history, std::filesystem::path shared, int index, Note note, Clock& clock = machine_clock());

  /// Merges the results of the share's earlier runs, and copies checkpoints of their unfinished trials to this machine. Then
  /// writes this run's copy. Throws Error if a copy is damaged, or the shared folder cannot be written.
  void bring();

  /// Copies at once after an attempt or a new checkpoint, unless the last copy took long. Without them, copies twice a
  /// minute. An error is noted once, and the copy is tried again. After a request to stop, finish() makes the copy. `written`
  /// is the number of this run's attempts so far.
  void keep_up(std::int64_t written);

  /// Copies everything, with retries for ten minutes, or ten seconds after a request to stop. Throws Error (kAgain).
  void finish();

  /// Throws Error (kAgain) if the shared folder is not the folder that bring() found.
  void expect_folder() const { mark_->expect(); }

  /// Path of this run's copy.
  const std::filesystem::path& copy_file() const { return copy_; }
  /// Names of this share's checkpoints in the shared folder.
  const std::set<std::string>& checkpoints() const { return checkpoints_; }

 private:
  /// Renames another run's copy to a name of this run, and merges it. If the other run is still active, it writes a new copy.
  void take(const std::filesystem::path& other);
  void copy();
  void copy_history();
  /// Copies output and weights that are missing in the shared folder, or have become longer.
  void copy_results(const char* kind, const char* ending);
  /// Copies the checkpoints. Returns the names of local checkpoints, or nullopt if a checkpoint was removed during its copy.
  std::optional<std::set<std::string>> copy_checkpoints();
  /// Removes unfinished files of this share's killed runs that are more than an hour old.
  void remove_old_parts() const;
  /// Copies a file completely, and flushes it to the disk. Throws Error, and Interrupted except in the last copy.
  void copy_to(const std::filesystem::path& from, const std::filesystem::path& to) const;

  std::filesystem::path history_, shared_;
  int index_;
  std::filesystem::path copy_, files_;      ///< files_: the path beside which files of attempts lie
  std::unique_ptr<SharedFolderMark> mark_;  ///< set by bring(); checked before each write and removal in the shared folder
  Note note_;
  Clock& clock_;
  std::vector<std::filesystem::path> taken_;  ///< merged copies of other runs, in the shared folder
  std::set<std::string> checkpoints_;
  std::int64_t copied_ = 0;  ///< number of this run's attempts in the latest copy
  double next_s_ = 0, next_look_s_ = 0;
  bool is_last_ = false, has_complained_ = false;
};

}  // namespace ablate
