// What keeps a run history well: looked through, copied, made smaller. Nothing of what it holds is changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::db {

/// What SQLite's integrity_check finds wrong, and rows that point to rows which are not there; at most 100, none: it is sound.
/// Reads the whole file. Throws Error: no run history, another schema, locked, too damaged to be opened.
std::vector<std::string> faults(const std::filesystem::path& file);

/// Compares all attempts that should have equal numbers (db/history/unlike_attempts.h). @return a line for each two that differ
std::vector<std::string> unlike_numbers(const std::filesystem::path& file);

/// Copies the history as it is at this moment, whatever runs write meanwhile, into a file of its own: whole or not at all.
/// Throws Error: the file is there already, cannot be written, the history is damaged.
void back_up(const std::filesystem::path& file, const std::filesystem::path& to);

struct Compacted {
  std::uintmax_t before = 0, after = 0;  ///< bytes of the file
};

/// Gives back what deleted rows have left, and orders the pages. Throws Error: a run or another program uses the history, the
/// disk has no room for the second copy that this takes meanwhile.
Compacted compact(const std::filesystem::path& file);

}  // namespace ablate::db
