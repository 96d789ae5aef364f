// Experiments renamed, tagged, noted and deleted, in a history that is there already; runs of it may go on meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "db/history/artifacts.h"
#include "db/history/reader.h"

namespace ablate::db {

/// All that follow throw Error where there is no such experiment (with the nearest name), Unavailable where another process has
/// locked the history; then nothing is changed.

/// Throws Error, too, where `to` is no name (name_refusal) or another experiment's. Its study, where it is run again, makes an
/// experiment of the old name.
void rename_experiment(const std::filesystem::path& file, const std::string& from, const std::string& to);

/// A tag is a word: no blank, comma or control character. Those that it has already stay. Throws Error for what is no tag.
void tag_experiment(const std::filesystem::path& file, const std::string& name, const std::vector<std::string>& tags);
/// Throws Error, too, with the nearest tag, where it lacks one of them.
void untag_experiment(const std::filesystem::path& file, const std::string& name, const std::vector<std::string>& tags);

/// Adds to the notes that it has. @param text UTF-8, of any lines @param written_us microseconds since 1970, UTC
void note_experiment(const std::filesystem::path& file, const std::string& name, const std::string& text,
                     std::int64_t written_us);

/// What the deletion of an experiment takes with it.
struct Deletion {
  std::int64_t trials = 0, attempts = 0;  ///< that no other experiment has
  std::int64_t last_attempt = 0;          ///< the number of the latest of these; 0: there are none
  std::int64_t shared = 0;                ///< its trials that stay, since other experiments have them
  KeptFiles files;                        ///< of these attempts, as far as they are there
  std::vector<OtherRun> running;          ///< processes that say they are running its trials, but for dead ones of this host
};

Deletion deletion_of(const Reader& reader, const std::string& name);

/// In one transaction, after the whole history was copied into `backup` (back_up); then the files of the attempts that went.
/// @param expected as deletion_of has told it @param believes_gone processes of other hosts, which nobody here sees, have ended
/// Throws Error where a process runs its trials, where what would go is no longer what was expected, and as back_up does.
/// @return the files that were removed
KeptFiles delete_experiment(const std::filesystem::path& file, const std::string& name, const Deletion& expected,
                            bool believes_gone, const std::filesystem::path& backup);

/// Throws Error as delete_experiment does of what is running.
void expect_not_running(const Deletion& deletion, const std::string& name, bool believes_gone);

}  // namespace ablate::db
