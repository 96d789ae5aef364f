// Which of the keys that proofs give count. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

namespace ablate::db {

/// Of all keys that proofs have given (alias and spare_alias), those count (alias) whose proof is not withdrawn and that rest
/// on a trial's own key, or on one that counts; of several proofs of one key the earliest. The others of proofs that stand wait
/// (spare_alias). Within the caller's transaction.
void settle_aliases(SQLite::Database& database);

}  // namespace ablate::db
