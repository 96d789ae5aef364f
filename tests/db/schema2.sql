-- A run history as schema 2 wrote it: the released migrations and a few rows. Never edited.
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
-- What papers report for an experiment's trials. metric: a name, for a paper may give what no run has measured yet.
CREATE TABLE published_value (
  experiment INTEGER NOT NULL REFERENCES experiment,
  metric TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (experiment, metric, trial)
) STRICT, WITHOUT ROWID;
PRAGMA application_id = 1633840244;
PRAGMA user_version = 2;
INSERT INTO experiment VALUES (1, 'old study', '', 'old.toml', '[grid]', '[]');
INSERT INTO trial VALUES (1, 'a1b2c3d4', 7), (2, 'e5f6a7b8', 8);
INSERT INTO resolved VALUES (1, '{"attention":{"plugin":"softmax"},"seed":1}'), (2, '{"attention":{"plugin":"linear"},"seed":1}');
INSERT INTO experiment_trial VALUES (1, 1, 0, 1), (1, 2, 1, 1);
INSERT INTO path VALUES (1, 'attention'), (2, 'seed');
INSERT INTO value VALUES (1, 1, 'text', 'softmax', NULL), (2, 1, 'text', 'linear', NULL), (3, 2, 'integer', '1', 1);
INSERT INTO parameter VALUES (1, 1, 1), (1, 2, 2), (2, 1, 3), (2, 2, 3);
INSERT INTO environment VALUES (1, 'hash', '{"host":"here"}');
INSERT INTO attempt VALUES (1, 1, 'done', '', 1700000000000000, 2.5, 2.25, 1048576, NULL, 0, 1, 'all well'),
                           (2, 2, 'failed', 'signal 11', 1700000001000000, 1.5, 0, 0, 11, NULL, 1, 'last words');
INSERT INTO metric VALUES (1, 'test/accuracy', '%', 'max', 'right'), (2, 'train/loss', '', 'min', 'loss');
INSERT INTO result VALUES (1, 1, 81.5);
INSERT INTO curve VALUES (1, 2, 10, 1.5), (2, 2, 10, NULL);
INSERT INTO plugin VALUES (1, 'attention', 'softmax', '1.0.0', 'code', 'binary', '/lib/softmax.so');
INSERT INTO attempt_plugin VALUES (1, 1);
INSERT INTO published_value VALUES (1, 'test/accuracy', 1, 80, 'A paper');
