// Detects a damaged history, and describes the remedy.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>

namespace ablate::db {

/// Returns a message if the file lacks a part of its pages, else the first fault that SQLite's quick_check finds; "" if there
/// is none. Skips quick_check for a file of more than 20 MB, because the check would take too long at a start.
std::string first_fault(SQLite::Database& database, const std::filesystem::path& file);

/// Throws Error with the first fault and the remedy.
void expect_sound(SQLite::Database& database, const std::filesystem::path& file);

/// Makes the same checks before the file is used. The file may be missing or empty, and is only read. Ignores other errors,
/// such as a lock or a folder that cannot be written: the code that opens the file reports them.
void expect_sound(const std::filesystem::path& file);

/// True if a file begins with SQLite's magic bytes. A damaged file with these bytes is a database that was cut off.
bool begins_as_sqlite(const std::filesystem::path& file);

/// Returns "FILE is a damaged SQLite database, cut off or overwritten in part (what SQLite found); ..." with the remedy.
std::string damaged_text(const std::filesystem::path& file, const std::string& found);

}  // namespace ablate::db
