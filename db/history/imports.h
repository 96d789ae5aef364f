// Trials that ran elsewhere into the history. Internal to db/, but for would_import.
#pragma once

#include "db/types/imported.h"

namespace SQLite {
class Database;
}

namespace ablate::db {

class Reader;

/// SQL: the environments of imported attempts. {0}: the history's name in SQLite ("main")
inline constexpr const char* kImportedEnvironments =
    "SELECT id FROM {0}.environment WHERE iif(json_valid(json), json ->> '$.imported' IS NOT NULL, 0)";

/// Writes those that are not there yet. An imported trial has a key and an attempt's uid made of all that the file says of it,
/// of which no study makes a key: so it is never done for a grid, and twice is as once. Its environment names the file
/// ("imported") and the digest of its data ("data_digest"), where that is told. No plugins, parts of a key or proofs: nothing
/// is concluded from it. If a later line, of this file or of a later import, has the same parameters, seed included, the later
/// one counts. An experiment that the history has keeps its grid. The trials are listed behind it, also those that a later grid
/// left out. Within the caller's transaction. Throws SQLite::Exception.
Imported put_imported(SQLite::Database& database, const ImportedFile& file);

/// Values that trials of the history have, but for seeds, with their types.
ParameterValues stored_values(const Reader& reader);

/// What put_imported would bring.
Imported would_import(const Reader& reader, const ImportedFile& file);

}  // namespace ablate::db
