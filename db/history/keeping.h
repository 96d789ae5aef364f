// Maintenance of a run history: check, copy, compact. The history's content does not change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ablate::db {

/// Checks the whole file. Returns at most 100 faults: findings of SQLite's integrity_check, and rows that refer to missing
/// rows. Throws Error if the file is no run history, has another schema, is locked, or is too damaged to open.
std::vector<std::string> faults(const std::filesystem::path& file);

/// Compares attempts that should have equal numbers (db/history/unlike_attempts.h). Returns a line for each pair that differs.
std::vector<std::string> unlike_numbers(const std::filesystem::path& file);

/// Copies the history's present state into a new file, completely or not at all. Runs may write meanwhile.
/// Throws Error if the new file exists or cannot be written, or if the history is damaged.
void back_up(const std::filesystem::path& file, const std::filesystem::path& to);

struct Compacted {
  std::uintmax_t before = 0, after = 0;  ///< bytes of the file
};

/// Frees the space of deleted rows and reorders the pages. Throws Error if another process uses the history, or if the disk has
/// no room for a temporary second copy.
Compacted compact(const std::filesystem::path& file);

}  // namespace ablate::db
