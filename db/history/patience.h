// How long a writer waits for another process's lock. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// As SQLite's busy timeout, which a signal does not end: once one asks to stop (core/util/stop_on_signal.h) a fifth of a
/// second is waited at most.
void set_patience(SQLite::Database& database, int milliseconds);

}  // namespace ablate::db
