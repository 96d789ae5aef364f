#include "db/history/migrate_floors.h"

namespace ablate::db {

void migrate_floors(SQLite::Database& database) {
  database.exec(R"sql(
-- What predictors of a few lines get on a task's test examples. task: its whole section. test_rows: train.test_batches x
-- train.batch, 0: the whole split. version: of the predictors. found_s: since 1970, UTC. left_out: the names of those for which
-- no time was left.
CREATE TABLE floor (
  digest TEXT NOT NULL,
  task TEXT NOT NULL,
  test_rows INTEGER NOT NULL,
  version INTEGER NOT NULL,
  found_s INTEGER NOT NULL,
  metric TEXT NOT NULL,
  examples INTEGER NOT NULL,
  train_size INTEGER NOT NULL,
  floors TEXT NOT NULL,
  left_out TEXT NOT NULL,
  PRIMARY KEY (digest, task, test_rows)
) STRICT, WITHOUT ROWID;
)sql");
}

}  // namespace ablate::db
