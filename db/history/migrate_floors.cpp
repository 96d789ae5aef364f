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

void migrate_floor_rows(SQLite::Database& database) {
  database.exec(R"sql(
-- train_rows: train.steps x train.accumulate x train.batch, 0: the whole split, as all floors of before. train_lanes: train.batch,
-- where a stream is read in so many parts; 0: it tells nothing. seen: examples of the training split in such rows, of a stream
-- places.
-- Copied, and not renamed: that would ask views of before, which name tables that are gone.
CREATE TEMP TABLE floor_of_before AS SELECT * FROM floor;
DROP TABLE floor;
CREATE TABLE floor (
  digest TEXT NOT NULL,
  task TEXT NOT NULL,
  test_rows INTEGER NOT NULL,
  train_rows INTEGER NOT NULL,
  train_lanes INTEGER NOT NULL,
  version INTEGER NOT NULL,
  found_s INTEGER NOT NULL,
  metric TEXT NOT NULL,
  examples INTEGER NOT NULL,
  train_size INTEGER NOT NULL,
  seen INTEGER NOT NULL,
  floors TEXT NOT NULL,
  left_out TEXT NOT NULL,
  PRIMARY KEY (digest, task, test_rows, train_rows, train_lanes)
) STRICT, WITHOUT ROWID;
INSERT INTO floor SELECT digest, task, test_rows, 0, 0, version, found_s, metric, examples, train_size, train_size, floors, left_out
  FROM floor_of_before;
DROP TABLE floor_of_before;
)sql");
}

}  // namespace ablate::db
