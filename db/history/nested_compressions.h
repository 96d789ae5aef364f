// What schema 4 does beside its SQL. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// {"attention": A, "compression": C} becomes {"attention": {A, "compression": C}}, and the settings' hash that of the new
/// text: so that the same settings asked for again are known as the same.
void nest_compressions(SQLite::Database& database);

}  // namespace ablate::db
