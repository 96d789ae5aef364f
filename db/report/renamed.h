// Names for people (--rename). Internal to db/.
#pragma once

#include "db/types/table.h"

namespace ablate::db {

/// The table with the texts of Table::names in place of its labels, paths and metrics, and no names any more.
Table renamed(Table table);

}  // namespace ablate::db
