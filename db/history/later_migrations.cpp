#include "db/history/later_migrations.h"

#include "db/history/global_ids.h"
#include "db/history/leases.h"
#include "db/history/migrate_artifacts.h"
#include "db/history/migrate_floors.h"
#include "db/history/migrate_outcomes.h"
#include "db/history/settings.h"

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
    {R"sql(
-- uid: 128 bits, by which copies of an attempt in other histories are known. turn: orders the attempts at a trial.
ALTER TABLE attempt ADD COLUMN uid BLOB NOT NULL DEFAULT x'';
ALTER TABLE attempt ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
-- When the experiment's latest grid was written, in microseconds since 1970; of those from before: when the latest of its trials started.
ALTER TABLE experiment ADD COLUMN listed_us INTEGER NOT NULL DEFAULT 0;
UPDATE experiment SET listed_us = coalesce((SELECT max(a.started_us) FROM experiment_trial m JOIN attempt a ON a.trial = m.trial
                                            WHERE m.experiment = experiment.id), 0);
-- Keys that a standing proof gives and that do not count: an earlier proof gave the key, too, or what the key rests on is gone.
CREATE TABLE spare_alias (
  key TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  proof INTEGER NOT NULL REFERENCES proof,
  basis INTEGER REFERENCES basis,
  rests_on TEXT,
  added TEXT,
  PRIMARY KEY (key, proof)
) STRICT, WITHOUT ROWID;
)sql",
     give_global_ids},
    {"-- migrate_floors() adds the table", migrate_floors},
    {kArtifactTable},
    {kLeaseTables},
    {"-- free_outcomes() takes the list of outcomes away", free_outcomes},
    {kSharedTables, share_settings},
    {"-- migrate_floor_rows() makes the table of floors anew", migrate_floor_rows},
    {R"sql(
-- The longest length that `ablate check` has looked at in a place; it counts where suite is the verdict's.
CREATE TABLE checked_length (
  kind TEXT NOT NULL,
  plugin TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  place TEXT NOT NULL,
  suite INTEGER NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY (kind, plugin, code_identity, place)
) STRICT, WITHOUT ROWID;
-- Where the plugin stood, the longest sequence that it saw at once, and up to which it was checked then; '', 0: not known.
ALTER TABLE plugin_of_set ADD COLUMN place TEXT NOT NULL DEFAULT '';
ALTER TABLE plugin_of_set ADD COLUMN length INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plugin_of_set ADD COLUMN checked_length INTEGER NOT NULL DEFAULT 0;
)sql"},
};

}  // namespace

std::span<const LaterMigration> later_migrations() { return kLater; }

}  // namespace ablate::db
