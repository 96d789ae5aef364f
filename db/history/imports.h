// Imports trials that ran elsewhere. Internal to db/, except would_import.
#pragma once

#include "db/types/imported.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

class Reader;

/// SQL: the environments of imported attempts. {0}: the history's name in SQLite ("main").
inline constexpr const char* kImportedEnvironments =
    "SELECT id FROM {0}.environment WHERE iif(json_valid(json), json ->> '$.imported' IS NOT NULL, 0)";

/// Writes trials that the history lacks. An imported trial's key and its attempt's uid are hashes of everything that the file
/// contains about the trial, so a second import adds nothing. No study makes such a key, so an imported trial never counts
/// as done for a grid. The environment has the file's name ("imported") and the data's digest ("data_digest") if known. There
/// are no plugins, key parts or proofs. If a later line or import has the same parameters and seed, the later trial counts. An
/// existing experiment keeps its grid; imported trials come after the grid, even if a later grid left them out. Within the
/// caller's transaction. Throws SQLite::Exception.
Imported put_imported(SQLite::Database& database, const ImportedFile& file);

/// Returns the values of all parameters of the history's trials, with the values' types. Leaves out seeds.
ParameterValues stored_values(const Reader& reader);

/// Returns the result that put_imported would have. Writes nothing.
Imported would_import(const Reader& reader, const ImportedFile& file);

}  // namespace ablate::db
