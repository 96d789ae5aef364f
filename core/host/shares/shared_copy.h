// A share's history, copied to where all machines see it.
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

/// The history lies on this machine; the shared folder gets copies alone, each whole or not at all, with the files beside it.
/// Nobody opens a copy for writing. Runs of one share, wherever they are, write copies of their own, so that none lies over
/// another's: a run takes those that it finds into its history, and removes them once its own copy is there. One thread.
class SharedCopy {
 public:
  using Note = std::function<void(const std::string& line)>;

  /// @param history on this machine @param shared the folder
  SharedCopy(std::filesystem::path history, std::filesystem::path shared, int index, Note note, Clock& clock = machine_clock());

  /// Takes what the share's earlier runs have left: results, and checkpoints of what they had not ended. Then this run's copy
  /// is there. Throws Error: a copy is damaged, or nothing can be written there.
  void bring();

  /// After an attempt or a new checkpoint copies at once, unless that took long the last time; else twice a minute. What goes
  /// wrong is noted once, and tried again; who is asked to stop leaves it for finish(). @param written attempts of this run so
  /// far
  void keep_up(std::int64_t written);

  /// Copies all, trying for some seconds. Throws Error with exit code kAgain.
  void finish();

  /// Throws Error (kAgain) if the shared folder is not the one that bring() found.
  void expect_folder() const { mark_->expect(); }

  /// This run's.
  const std::filesystem::path& copy_file() const { return copy_; }
  /// Names of this share's checkpoints in the shared folder.
  const std::set<std::string>& checkpoints() const { return checkpoints_; }

 private:
  /// Gives another run's copy a name that only this run knows of, and merges it: whoever goes on writing makes a new one.
  void take(const std::filesystem::path& other);
  void copy();
  void copy_history();
  /// Output and weights that lack there, or have become longer.
  void copy_results(const char* kind, const char* ending);
  /// @return those that are here; nothing where one went away while it was copied
  std::optional<std::set<std::string>> copy_checkpoints();
  /// What killed runs of this share have left half-written, an hour ago or earlier.
  void remove_old_parts() const;
  /// Whole, and on the disk. Throws Error; Interrupted before the last copy.
  void copy_to(const std::filesystem::path& from, const std::filesystem::path& to) const;

  std::filesystem::path history_, shared_;
  int index_;
  std::filesystem::path copy_, files_;      ///< files_: beside which files of attempts lie
  std::unique_ptr<SharedFolderMark> mark_;  ///< set by bring(); checked before each write and removal there
  Note note_;
  Clock& clock_;
  std::vector<std::filesystem::path> taken_;  ///< in the shared folder, and in the history here
  std::set<std::string> checkpoints_;
  std::int64_t copied_ = 0;  ///< attempts that had been written at the latest copy
  double next_s_ = 0, next_look_s_ = 0;
  bool is_last_ = false, has_complained_ = false;
};

}  // namespace ablate
