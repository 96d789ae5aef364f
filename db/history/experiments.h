// Renames, tags, annotates and deletes experiments of an existing history. Runs may continue meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "db/history/artifacts.h"
#include "db/history/reader.h"

namespace ablate::db {

/// All functions below throw Error if the experiment does not exist (with the nearest name), and Unavailable if another process
/// has locked the history. Then nothing changes.

/// rename_experiment also throws Error if `to` is not a valid name (name_refusal) or if another experiment has this name. If
/// the study runs again after the rename, the run creates a new experiment with the old name.
void rename_experiment(const std::filesystem::path& file, const std::string& from, const std::string& to);

/// Adds tags; existing tags stay. A tag is a word without a blank, comma or control character. Throws Error for an invalid tag.
void tag_experiment(const std::filesystem::path& file, const std::string& name, const std::vector<std::string>& tags);
/// Removes tags. Also throws Error if the experiment lacks one of them; the message has the nearest tag of the experiment.
void untag_experiment(const std::filesystem::path& file, const std::string& name, const std::vector<std::string>& tags);

/// Adds a note: UTF-8 text of any number of lines. `written_us` is in microseconds since 1970, UTC.
void note_experiment(const std::filesystem::path& file, const std::string& name, const std::string& text,
                     std::int64_t written_us);

/// Rows and files that the deletion of an experiment removes.
struct Deletion {
  std::int64_t trials = 0, attempts = 0;  ///< trials that no other experiment has, and their attempts
  std::int64_t last_attempt = 0;          ///< number of the latest of these attempts; 0: there are none
  std::int64_t shared = 0;                ///< trials that stay, because other experiments have them, too
  KeptFiles files;                        ///< existing files of these attempts
  std::vector<OtherRun> running;          ///< processes that report these trials as running, except dead ones of this host
};

Deletion deletion_of(const Reader& reader, const std::string& name);

/// Copies the whole history into `backup` (back_up), deletes the experiment in one transaction, and then removes its files.
/// Throws Error if a process runs trials of the experiment, if its rows differ from `expected`, or if the backup fails.
/// @param expected result of deletion_of
/// @param believes_gone true if processes of other hosts, which cannot be checked, count as ended
/// @return the removed files
KeptFiles delete_experiment(const std::filesystem::path& file, const std::string& name, const Deletion& expected,
                            bool believes_gone, const std::filesystem::path& backup);

/// Throws Error, as delete_experiment does, if a process runs trials of the experiment.
void expect_not_running(const Deletion& deletion, const std::string& name, bool believes_gone);

}  // namespace ablate::db
