// What a damaged history is told by, and what can still be done with it.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>

namespace ablate::db {

/// The first fault that SQLite's quick_check finds; "" for none, and for a file of more than 20 MB, which is not looked at:
/// that would take longer than a start may.
std::string first_fault(SQLite::Database& database, const std::filesystem::path& file);

/// Throws Error with the first fault and the remedy.
void expect_sound(SQLite::Database& database, const std::filesystem::path& file);

/// Whether a file begins as SQLite's do: then it is a database that was cut off, and no other kind of file.
bool begins_as_sqlite(const std::filesystem::path& file);

/// "FILE is a damaged SQLite database (what SQLite found): ...", and the remedy.
std::string damaged_text(const std::filesystem::path& file, const std::string& found);

}  // namespace ablate::db
