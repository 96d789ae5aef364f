#include "db/history/later_migrations.h"

namespace ablate::db {
namespace {

constexpr LaterMigration kLater[] = {
    {R"sql(
-- What an audit has found last in a task's data. parameters: those that differ from their defaults. suite: its version. audited_s: since 1970, UTC.
CREATE TABLE audit (
  digest TEXT NOT NULL,
  task TEXT NOT NULL,
  parameters TEXT NOT NULL,
  suite INTEGER NOT NULL,
  audited_s INTEGER NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed')),
  findings TEXT NOT NULL,
  PRIMARY KEY (digest, task)
) STRICT, WITHOUT ROWID;
)sql"},
    {R"sql(
-- What a trial has under such a key and not under its own, as JSON by path: defaults of parameters that came later; NULL: nothing.
ALTER TABLE alias ADD COLUMN added TEXT;
)sql"},
    {R"sql(
-- What people say of an experiment. written_us: since 1970, UTC.
CREATE TABLE tag (
  experiment INTEGER NOT NULL REFERENCES experiment,
  tag TEXT NOT NULL,
  PRIMARY KEY (experiment, tag)
) STRICT, WITHOUT ROWID;
CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment,
  written_us INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX note_by_experiment ON note (experiment);
)sql"},
};

}  // namespace

std::span<const LaterMigration> later_migrations() { return kLater; }

}  // namespace ablate::db
