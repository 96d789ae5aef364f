// What a damaged history is told by, and what can still be done with it.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <string>

namespace ablate::db {

/// The first fault that SQLite's quick_check finds, or that the file is shorter than its pages; "" for none. A file of more
/// than 20 MB is not looked through: that would take longer than a start may.
std::string first_fault(SQLite::Database& database, const std::filesystem::path& file);

/// Throws Error with the first fault and the remedy.
void expect_sound(SQLite::Database& database, const std::filesystem::path& file);

/// The same before anything else is done with the file, which may be missing or empty: it is only read. What keeps it from
/// being read otherwise (another's lock, a folder that cannot be written) is for the one who opens it to say.
void expect_sound(const std::filesystem::path& file);

/// Whether a file begins as SQLite's do: then it is a database that was cut off, and no other kind of file.
bool begins_as_sqlite(const std::filesystem::path& file);

/// "FILE is a damaged SQLite database (what SQLite found): ...", and the remedy.
std::string damaged_text(const std::filesystem::path& file, const std::string& found);

}  // namespace ablate::db
