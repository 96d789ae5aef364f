#include "db/history/migrations.h"

#include <array>

#include "db/history/free_kinds.h"
#include "db/history/later_migrations.h"
#include "db/history/nested_compressions.h"

namespace ablate::db {
namespace {

/// Entry i leads from schema i to schema i + 1.
constexpr std::array kMigrations = {R"sql(
CREATE TABLE experiment (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  overrides TEXT NOT NULL
) STRICT;
-- configuration: 64 bits of the hash of the resolved settings. Trials that share it differ only in code or data.
CREATE TABLE trial (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  configuration INTEGER NOT NULL
) STRICT;
CREATE TABLE resolved (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  json TEXT NOT NULL
) STRICT;
-- listed: whether the experiment's latest grid has the trial.
CREATE TABLE experiment_trial (
  experiment INTEGER NOT NULL REFERENCES experiment,
  trial INTEGER NOT NULL REFERENCES trial,
  position INTEGER NOT NULL,
  listed INTEGER NOT NULL,
  PRIMARY KEY (experiment, trial)
) STRICT, WITHOUT ROWID;
CREATE INDEX experiment_trial_by_trial ON experiment_trial (trial);
-- Paths and values are stored once: a million trials share a few hundred of them.
CREATE TABLE path (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE value (
  id INTEGER PRIMARY KEY,
  path INTEGER NOT NULL REFERENCES path,
  type TEXT NOT NULL CHECK (type IN ('integer', 'real', 'boolean', 'text')),
  text TEXT NOT NULL,
  number ANY,
  UNIQUE (path, text, type)
) STRICT;
CREATE TABLE parameter (
  path INTEGER NOT NULL REFERENCES path,
  trial INTEGER NOT NULL REFERENCES trial,
  value INTEGER NOT NULL REFERENCES value,
  PRIMARY KEY (path, trial)
) STRICT, WITHOUT ROWID;
CREATE TABLE environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
CREATE TABLE attempt (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  outcome TEXT NOT NULL CHECK (outcome IN ('done', 'failed', 'timeout', 'interrupted')),
  reason TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  wall_s REAL NOT NULL,
  cpu_s REAL NOT NULL,
  peak_resident_bytes INTEGER NOT NULL,
  signal INTEGER,
  exit_code INTEGER,
  environment INTEGER NOT NULL REFERENCES environment,
  output TEXT NOT NULL
) STRICT;
CREATE INDEX attempt_by_trial ON attempt (trial, outcome);
CREATE INDEX attempt_by_outcome ON attempt (outcome);
CREATE TABLE metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('max', 'min', '')),
  description TEXT NOT NULL
) STRICT;
-- A value of NULL is "not a number": SQLite has no NaN.
CREATE TABLE result (
  metric INTEGER NOT NULL REFERENCES metric,
  attempt INTEGER NOT NULL REFERENCES attempt,
  value REAL,
  PRIMARY KEY (metric, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE curve (
  attempt INTEGER NOT NULL REFERENCES attempt,
  metric INTEGER NOT NULL REFERENCES metric,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (attempt, metric, step)
) STRICT, WITHOUT ROWID;
CREATE TABLE plugin (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('attention', 'compression', 'task')),
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (kind, name, version, code_identity, content_hash, path)
) STRICT;
CREATE TABLE attempt_plugin (
  attempt INTEGER NOT NULL REFERENCES attempt,
  plugin INTEGER NOT NULL REFERENCES plugin,
  PRIMARY KEY (attempt, plugin)
) STRICT, WITHOUT ROWID;
)sql",
                                    R"sql(
-- What papers report for an experiment's trials. metric: a name, for a paper may give what no run has measured yet.
CREATE TABLE published_value (
  experiment INTEGER NOT NULL REFERENCES experiment,
  metric TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (experiment, metric, trial)
) STRICT, WITHOUT ROWID;
)sql",
                                    R"sql(
-- How far an attempt got; 0: not known.
ALTER TABLE attempt ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attempt ADD COLUMN steps INTEGER NOT NULL DEFAULT 0;
-- What processes say that they are running. started: of the process, in clock ticks. loss: NULL before there is one.
CREATE TABLE running (
  host TEXT NOT NULL,
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  key TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  step INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  loss REAL,
  PRIMARY KEY (host, process, started, key)
) STRICT, WITHOUT ROWID;
)sql",
                                    R"sql(
-- What the trial is judged by; NULL: it did not say. Trials until now were judged by their accuracy.
ALTER TABLE attempt ADD COLUMN main_metric INTEGER REFERENCES metric;
UPDATE attempt SET main_metric = (SELECT id FROM metric WHERE name = 'test/accuracy')
  WHERE id IN (SELECT r.attempt FROM result r JOIN metric m ON m.id = r.metric WHERE m.name = 'test/accuracy');
-- A compression is a parameter of its attention. A path that is there already takes the other's values.
CREATE TEMP TABLE nested AS SELECT p.id AS old, q.id AS new
  FROM path p JOIN path q ON q.name = 'attention.' || p.name WHERE p.name = 'compression' OR p.name GLOB 'compression.*';
INSERT OR IGNORE INTO value (path, type, text, number)
  SELECT n.new, v.type, v.text, v.number FROM nested n JOIN value v ON v.path = n.old;
INSERT OR IGNORE INTO parameter (path, trial, value)
  SELECT n.new, p.trial, w.id FROM nested n JOIN parameter p ON p.path = n.old JOIN value v ON v.id = p.value
  JOIN value w ON (w.path, w.text, w.type) = (n.new, v.text, v.type);
DELETE FROM parameter WHERE path IN (SELECT old FROM nested);
DELETE FROM value WHERE path IN (SELECT old FROM nested);
DELETE FROM path WHERE id IN (SELECT old FROM nested);
DROP TABLE nested;
UPDATE path SET name = 'attention.' || name WHERE name = 'compression' OR name GLOB 'compression.*';
)sql",
                                    R"sql(
-- What a trial's key is made of. basis: code of its plugins, data, versions; settings: what was chosen. Of trials from before: nothing.
CREATE TABLE basis (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
CREATE TABLE key_part (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  basis INTEGER NOT NULL REFERENCES basis,
  settings_hash INTEGER NOT NULL,
  settings TEXT NOT NULL
) STRICT;
CREATE INDEX key_part_by_settings ON key_part (settings_hash);
-- That trials of one basis have the numbers of another: what of it was otherwise before, what it is now.
CREATE TABLE proof (
  id INTEGER PRIMARY KEY,
  proven_us INTEGER NOT NULL,
  before TEXT NOT NULL,
  now TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment
) STRICT;
-- The attempts that were repeated for it, bit by bit the same.
CREATE TABLE proof_attempt (
  proof INTEGER NOT NULL REFERENCES proof,
  attempt INTEGER NOT NULL REFERENCES attempt,
  PRIMARY KEY (proof, attempt)
) STRICT, WITHOUT ROWID;
-- Another key of a trial, by a proof.
CREATE TABLE alias (
  key TEXT PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  proof INTEGER NOT NULL REFERENCES proof
) STRICT, WITHOUT ROWID;
)sql",
                                    R"sql(
-- An attempt is called so in all views, and the view of trials by its name.
DROP VIEW IF EXISTS runs;
-- What the conformance suite had said of the plugin when the attempt started. Of attempts from before: nothing.
ALTER TABLE attempt_plugin ADD COLUMN verdict TEXT NOT NULL DEFAULT 'unchecked' CHECK (verdict IN ('passed', 'failed', 'unchecked'));
ALTER TABLE attempt_plugin ADD COLUMN failed_checks TEXT NOT NULL DEFAULT '';
)sql",
                                    R"sql(
-- Of a study that chooses values by dev: trials of one number differ in tuned values and seeds alone. Of grids from before: nothing.
ALTER TABLE experiment_trial ADD COLUMN cell INTEGER;
)sql",
                                    R"sql(
-- What another key is made of: an attempt under it belongs to a trial of its own. Of keys from before: not known.
ALTER TABLE alias ADD COLUMN basis INTEGER REFERENCES basis;
CREATE INDEX alias_by_proof ON alias (proof);
ALTER TABLE proof ADD COLUMN withdrawn_us INTEGER;
-- Attempts under such a key were kept with the trial whose other key it is, though they ran other code: those go to trials of their own,
-- in the place of the other where they are done.
CREATE TEMP TABLE moved AS
  SELECT a.id AS attempt, a.outcome = 'done' AS done, l.key, l.trial
  FROM alias l JOIN proof p ON p.id = l.proof JOIN key_part k ON k.trial = l.trial JOIN basis b ON b.id = k.basis
    JOIN attempt a ON a.trial = l.trial
  WHERE EXISTS (SELECT 1 FROM json_each(p.before, '$.plugins') o JOIN json_each(b.json, '$.plugins') c ON c.value = o.value)
    AND NOT EXISTS (
      SELECT 1 FROM json_each(b.json, '$.plugins') c
      WHERE coalesce((SELECT n.value FROM json_each(p.before, '$.plugins') o JOIN json_each(p.now, '$.plugins') n ON n.key = o.key
                      WHERE o.value = c.value), c.value)
        NOT IN (SELECT g.code_identity FROM attempt_plugin u JOIN plugin g ON g.id = u.plugin WHERE u.attempt = a.id));
INSERT INTO trial (key, configuration)
  SELECT DISTINCT m.key, t.configuration FROM moved m JOIN trial t ON t.id = m.trial WHERE true ON CONFLICT DO NOTHING;
CREATE TEMP TABLE made AS
  SELECT t.id, m.trial, max(m.done) AS done FROM moved m JOIN trial t ON t.key = m.key GROUP BY t.id, m.trial;
INSERT OR IGNORE INTO resolved (trial, json) SELECT n.id, r.json FROM made n JOIN resolved r ON r.trial = n.trial;
INSERT OR IGNORE INTO parameter (path, trial, value) SELECT p.path, n.id, p.value FROM made n JOIN parameter p ON p.trial = n.trial;
INSERT OR IGNORE INTO experiment_trial (experiment, trial, position, listed, cell)
  SELECT e.experiment, n.id, e.position, e.listed AND n.done, e.cell FROM made n JOIN experiment_trial e ON e.trial = n.trial;
UPDATE experiment_trial SET listed = 0 WHERE trial IN (SELECT trial FROM made WHERE done);
UPDATE attempt SET trial = (SELECT t.id FROM moved m JOIN trial t ON t.key = m.key WHERE m.attempt = attempt.id)
  WHERE id IN (SELECT attempt FROM moved);
DROP TABLE moved;
DROP TABLE made;
)sql",
                                    R"sql(
-- What the conformance suite has said last of a plugin's code, on whichever machine. suite: its version. checked_s: since 1970, UTC.
CREATE TABLE verdict (
  kind TEXT NOT NULL,
  plugin TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  suite INTEGER NOT NULL,
  checked_s INTEGER NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed')),
  failed_checks TEXT NOT NULL,
  PRIMARY KEY (kind, plugin, code_identity)
) STRICT, WITHOUT ROWID;
)sql",
                                    R"sql(
-- The key that it was made from, where a proof gave that one, too; NULL: the trial's own.
ALTER TABLE alias ADD COLUMN rests_on TEXT;
CREATE INDEX alias_by_rests_on ON alias (rests_on) WHERE rests_on IS NOT NULL;
)sql",
                                    R"sql(
-- What a metric is, and whose. Definitions of before tell it by their names and units alone; the next run of a trial writes them anew.
ALTER TABLE metric ADD COLUMN kind TEXT NOT NULL DEFAULT 'score' CHECK (kind IN ('score', 'cost', 'count'));
ALTER TABLE metric ADD COLUMN owner TEXT NOT NULL DEFAULT 'task' CHECK (owner IN ('task', 'method', 'host'));
ALTER TABLE metric ADD COLUMN of_steps INTEGER NOT NULL DEFAULT 0 CHECK (of_steps IN (0, 1));
UPDATE metric SET kind = 'count' WHERE direction = '';
UPDATE metric SET kind = 'count', owner = 'method' WHERE name LIKE 'attention/%';
UPDATE metric SET kind = 'count', owner = 'host' WHERE name IN ('model/parameters', 'dev/best_step');
UPDATE metric SET kind = 'cost', owner = 'host'
  WHERE name LIKE 'time/%' OR name LIKE 'memory/%' OR name LIKE 'train/%' AND name <> 'train/loss';
UPDATE metric SET of_steps = 1 WHERE name LIKE 'train/%' AND unit IN ('ms', 's', 'examples/s');
)sql", "-- free_kinds() takes the list of kinds away"};

}  // namespace

int schema_version() { return static_cast<int>(kMigrations.size() + later_migrations().size()); }

void migrate_from(int version, SQLite::Database& database) {
  const auto at = static_cast<std::size_t>(version);
  if (at >= kMigrations.size()) {
    const auto& [sql, then] = later_migrations()[at - kMigrations.size()];
    database.exec(sql);
    if (then != nullptr) then(database);
    return;
  }
  database.exec(kMigrations[at]);
  if (version == 3) nest_compressions(database);
  if (version == 11) free_kinds(database);
}

}  // namespace ablate::db
