// Where a run history may lie.
#pragma once

#include <filesystem>
#include <string>

namespace ablate::db {

/// Throws Error for what can hold no history: SQLite's names for databases that end with the process ("", ":memory:",
/// "file:..."), whatever is there and no regular file, told by its kind, a link to what is not there, and a path into a folder
/// that is not there. Nothing is read.
void check_location(const std::filesystem::path& file);

/// Checks the same for a history that will be written to. Also refuses a file with hard links: SQLite names the write-ahead log
/// after the path, so that two names of one file have two logs, and damage it.
void check_writing_location(const std::filesystem::path& file);

/// The URI by which SQLite opens a file for reading, and never writes to it.
std::string reading_location(const std::filesystem::path& file);

}  // namespace ablate::db
