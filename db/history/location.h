// Checks of the path of a run history.
#pragma once

#include <filesystem>
#include <string>

namespace ablate::db {

/// Throws Error if a path cannot be a history. Refuses SQLite's names for temporary databases ("", ":memory:", "file:..."), an
/// existing path that is not a regular file, a link to a missing file, and a path in a missing folder. Reads nothing.
void check_location(const std::filesystem::path& file);

/// Makes the checks of check_location for a history that will be written. Also refuses a file with hard links: SQLite names
/// the write-ahead log after the path, so two names of one file would have two logs, and damage the file.
void check_writing_location(const std::filesystem::path& file);

/// Returns the URI by which SQLite opens a file for reading. SQLite never writes to the file through this URI.
std::string reading_location(const std::filesystem::path& file);

}  // namespace ablate::db
