// A share's history, copied to where all machines see it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>

#include "core/util/clock.h"

namespace ablate {

/// The history lies on this machine; the shared folder gets copies alone, each whole or not at all, with the files beside it.
/// SQLite opens nothing there. One thread.
class SharedCopy {
 public:
  using Note = std::function<void(const std::string& line)>;

  /// @param history on this machine @param copy in the shared folder
  SharedCopy(std::filesystem::path history, std::filesystem::path copy, Note note, Clock& clock = machine_clock());

  /// Takes what the copy has and the history lacks: what an earlier run of the share did on another machine, and checkpoints of
  /// what it had not ended. Throws Error.
  void bring();

  /// After an attempt or a new checkpoint copies at once, unless that took long the last time; else twice a minute. What goes
  /// wrong is noted once, and tried again; who is asked to stop leaves it for finish(). @param written attempts of this run so
  /// far
  void keep_up(std::int64_t written);

  /// Copies all, trying for some seconds. Throws Error.
  void finish();

 private:
  void take_copy();
  void copy();
  void copy_history();
  /// Output and weights that lack there, or have become longer.
  void copy_results(const char* kind, const char* ending);
  void copy_checkpoints();
  /// Whole, and on the disk. Throws Error; Interrupted before the last copy.
  void copy_file(const std::filesystem::path& from, const std::filesystem::path& to) const;

  std::filesystem::path history_, copy_;
  Note note_;
  Clock& clock_;
  std::string seen_;                   ///< stamp of the copy as it was read or written here last; "": there was none
  std::set<std::string> checkpoints_;  ///< of this share, in the shared folder
  std::int64_t copied_ = 0;            ///< attempts that had been written at the latest copy
  double next_s_ = 0, next_look_s_ = 0;
  bool is_last_ = false, has_complained_ = false;
};

}  // namespace ablate
