// attempt.outcome may be any text: which there are, core/records/outcome.h says. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// Takes the list of outcomes out of the table's constraint.
void free_outcomes(SQLite::Database& database);

}  // namespace ablate::db
