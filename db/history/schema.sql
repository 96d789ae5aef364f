-- Tables of a history. A migration recreates the tables that it has dropped (schema.cpp). Views: db/history/views.cpp.
-- Times: NAME_us are microseconds and NAME_s seconds since 1970, UTC.
CREATE TABLE IF NOT EXISTS experiment (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  description TEXT NOT NULL,
  file TEXT NOT NULL,
  text TEXT NOT NULL,
  overrides TEXT NOT NULL,
  listed_us INTEGER NOT NULL DEFAULT 0  -- time at which the latest grid was written
) STRICT;
CREATE TABLE IF NOT EXISTS trial (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL UNIQUE,
  configuration INTEGER NOT NULL,  -- 64 bits of the settings' hash: trials with equal hashes differ only in code or data
  setting INTEGER REFERENCES setting,
  seed INTEGER REFERENCES value
) STRICT;
CREATE TABLE IF NOT EXISTS resolved (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  json TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS experiment_trial (
  experiment INTEGER NOT NULL REFERENCES experiment,
  trial INTEGER NOT NULL REFERENCES trial,
  position INTEGER NOT NULL,
  listed INTEGER NOT NULL,  -- 1: the experiment's latest grid has the trial
  role TEXT NOT NULL DEFAULT 'reported' CHECK (role IN ('reported', 'tuning', 'longer')),  -- core/records/role.h
  cell INTEGER,             -- if the study chooses values by dev: trials of one cell differ only in tuned values and seeds
  PRIMARY KEY (experiment, trial)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS experiment_trial_by_trial ON experiment_trial (trial);
-- Paths and values are stored once: many trials share a few hundred of them.
CREATE TABLE IF NOT EXISTS path (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE IF NOT EXISTS value (
  id INTEGER PRIMARY KEY,
  path INTEGER NOT NULL REFERENCES path,
  type TEXT NOT NULL CHECK (type IN ('integer', 'real', 'boolean', 'text')),
  text TEXT NOT NULL,
  number ANY,
  UNIQUE (path, text, type)
) STRICT;
-- All parameters of a trial except its seed. hash: hash of their paths, types and texts (TrialWriter).
CREATE TABLE IF NOT EXISTS setting (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE IF NOT EXISTS parameter (
  path INTEGER NOT NULL REFERENCES path,
  setting INTEGER NOT NULL REFERENCES setting,
  value INTEGER NOT NULL REFERENCES value,
  PRIMARY KEY (path, setting)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS environment (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS attempt (
  id INTEGER PRIMARY KEY,
  trial INTEGER NOT NULL REFERENCES trial,
  outcome TEXT NOT NULL,  -- a name of core/records/outcome.h; a newer history may have other names
  reason TEXT NOT NULL,
  started_us INTEGER NOT NULL,
  wall_s REAL NOT NULL,
  cpu_s REAL NOT NULL,
  peak_resident_bytes INTEGER NOT NULL,
  signal INTEGER,
  exit_code INTEGER,
  environment INTEGER NOT NULL REFERENCES environment,
  output TEXT NOT NULL,
  step INTEGER NOT NULL DEFAULT 0,  -- step that the attempt reached, of `steps`; 0: not known
  steps INTEGER NOT NULL DEFAULT 0,
  main_metric INTEGER REFERENCES metric,  -- the metric that judges the trial; NULL: none is declared
  uid BLOB NOT NULL DEFAULT x'',          -- 128 bits that identify copies of the attempt in other histories
  turn INTEGER NOT NULL DEFAULT 0,        -- orders the attempts at a trial
  plugin_set INTEGER REFERENCES plugin_set
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS attempt_by_uid ON attempt (uid);
CREATE INDEX IF NOT EXISTS attempt_by_trial ON attempt (trial, outcome, turn, uid, plugin_set, environment, main_metric);
-- Definitions of metrics (core/records/metric.h). of_steps: 1 if the metric is computed from step times.
CREATE TABLE IF NOT EXISTS metric (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  unit TEXT NOT NULL,
  direction TEXT NOT NULL CHECK (direction IN ('max', 'min', '')),
  description TEXT NOT NULL,
  kind TEXT NOT NULL DEFAULT 'score' CHECK (kind IN ('score', 'cost', 'count')),
  owner TEXT NOT NULL DEFAULT 'task' CHECK (owner IN ('task', 'method', 'host')),
  of_steps INTEGER NOT NULL DEFAULT 0 CHECK (of_steps IN (0, 1))
) STRICT;
-- A value of NULL is "not a number": SQLite has no NaN.
CREATE TABLE IF NOT EXISTS result (
  metric INTEGER NOT NULL REFERENCES metric,
  attempt INTEGER NOT NULL REFERENCES attempt,
  value REAL,
  PRIMARY KEY (metric, attempt)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS curve (
  attempt INTEGER NOT NULL REFERENCES attempt,
  metric INTEGER NOT NULL REFERENCES metric,
  step INTEGER NOT NULL,
  value REAL,
  PRIMARY KEY (attempt, metric, step)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plugin (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  content_hash TEXT NOT NULL,
  path TEXT NOT NULL,
  UNIQUE (kind, name, version, code_identity, content_hash, path)
) STRICT;
-- Plugins that attempts used together, with the suite's verdict on each at the start of the attempts. hash: hash of all rows of
-- the set (AttemptWriter).
CREATE TABLE IF NOT EXISTS plugin_set (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE IF NOT EXISTS plugin_of_set (
  plugin_set INTEGER NOT NULL REFERENCES plugin_set,
  plugin INTEGER NOT NULL REFERENCES plugin,
  verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed', 'unchecked')),
  failed_checks TEXT NOT NULL,
  -- Place of the plugin, the longest sequence that it processed at once, and the length checked by then; '', 0: not known.
  place TEXT NOT NULL DEFAULT '',
  length INTEGER NOT NULL DEFAULT 0,
  checked_length INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (plugin_set, plugin)
) STRICT, WITHOUT ROWID;
-- A file of an attempt, in the folder of its kind (db/history/artifacts.h). name: begins with the attempt's uid. An attempt may
-- have several files of one kind, such as checkpoints. of_bytes: original size, larger than bytes if the file was cut.
-- removed_us: NULL if the file was not removed.
CREATE TABLE IF NOT EXISTS artifact (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  attempt INTEGER NOT NULL REFERENCES attempt,
  bytes INTEGER NOT NULL,
  of_bytes INTEGER NOT NULL,
  removed_us INTEGER,
  PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS artifact_by_attempt ON artifact (attempt);
-- Papers' values for an experiment's trials. metric: a name, because a paper may report a metric that no run has measured yet.
CREATE TABLE IF NOT EXISTS published_value (
  experiment INTEGER NOT NULL REFERENCES experiment,
  metric TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  value REAL NOT NULL,
  source TEXT NOT NULL,
  PRIMARY KEY (experiment, metric, trial)
) STRICT, WITHOUT ROWID;
-- Tags and notes that people add to an experiment.
CREATE TABLE IF NOT EXISTS tag (
  experiment INTEGER NOT NULL REFERENCES experiment,
  tag TEXT NOT NULL,
  PRIMARY KEY (experiment, tag)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS note (
  id INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiment,
  written_us INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS note_by_experiment ON note (experiment);
-- Parts of a trial's key. basis: code of its plugins, data, versions; settings: its plugins, parameters and seed.
CREATE TABLE IF NOT EXISTS basis (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  json TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS key_part (
  trial INTEGER PRIMARY KEY REFERENCES trial,
  basis INTEGER NOT NULL REFERENCES basis,
  settings_hash INTEGER NOT NULL,
  settings TEXT NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS key_part_by_settings ON key_part (settings_hash);
-- Proofs that trials of two bases give the same numbers. before, now: the parts in which the old and the new basis differ.
CREATE TABLE IF NOT EXISTS proof (
  id INTEGER PRIMARY KEY,
  proven_us INTEGER NOT NULL,
  before TEXT NOT NULL,
  now TEXT NOT NULL,
  environment INTEGER NOT NULL REFERENCES environment
) STRICT;
-- Attempts that were repeated for a proof, and were equal bit by bit.
CREATE TABLE IF NOT EXISTS proof_attempt (
  proof INTEGER NOT NULL REFERENCES proof,
  attempt INTEGER NOT NULL REFERENCES attempt,
  PRIMARY KEY (proof, attempt)
) STRICT, WITHOUT ROWID;
-- Another key that a proof gives to a trial. basis: basis of this key. An attempt under this key belongs to a separate trial.
-- rests_on: an earlier key from which this key was derived, if another proof gave the earlier key; only in proofs of schema 23.
CREATE TABLE IF NOT EXISTS alias (
  key TEXT NOT NULL,
  trial INTEGER NOT NULL REFERENCES trial,
  proof INTEGER NOT NULL REFERENCES proof,
  basis INTEGER REFERENCES basis,
  rests_on TEXT,
  PRIMARY KEY (key, proof)
) STRICT, WITHOUT ROWID;
-- The suite's latest verdict on a plugin's code, from any machine. suite: the suite's version.
CREATE TABLE IF NOT EXISTS verdict (
  kind TEXT NOT NULL,
  plugin TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  suite INTEGER NOT NULL,
  checked_s INTEGER NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed')),
  failed_checks TEXT NOT NULL,
  PRIMARY KEY (kind, plugin, code_identity)
) STRICT, WITHOUT ROWID;
-- The longest length that `ablate check` has checked in a place; it counts if suite equals the verdict's suite.
CREATE TABLE IF NOT EXISTS checked_length (
  kind TEXT NOT NULL,
  plugin TEXT NOT NULL,
  code_identity TEXT NOT NULL,
  place TEXT NOT NULL,
  suite INTEGER NOT NULL,
  length INTEGER NOT NULL,
  PRIMARY KEY (kind, plugin, code_identity, place)
) STRICT, WITHOUT ROWID;
-- Latest findings of an audit in a task's data. parameters: the task's parameters, except defaults. suite: the audit's version.
CREATE TABLE IF NOT EXISTS audit (
  digest TEXT NOT NULL,
  task TEXT NOT NULL,
  parameters TEXT NOT NULL,
  suite INTEGER NOT NULL,
  audited_s INTEGER NOT NULL,
  verdict TEXT NOT NULL CHECK (verdict IN ('passed', 'failed')),
  findings TEXT NOT NULL,
  PRIMARY KEY (digest, task)
) STRICT, WITHOUT ROWID;
-- Scores of simple predictors on a task's test examples. task: a trial's whole task section. test_rows: train.test_batches x
-- train.batch, 0: the whole split. train_rows: train.steps x train.accumulate x train.batch, 0: the whole split. train_lanes:
-- train.batch, the number of lanes that read a stream; 0: the number has no effect. version: version of the predictors. seen:
-- training examples in these rows, or positions of a stream. left_out: names of predictors that ran out of time.
CREATE TABLE IF NOT EXISTS floor (
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
-- Trials that processes report as running. started: start of the process, in clock ticks. loss: NULL before the first loss.
CREATE TABLE IF NOT EXISTS running (
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
-- Schedulers that lease trials. slot: number of their lock beside the history (FILE-leases), never used again. started,
-- worker_started: starts of processes, in clock ticks. space: scope in which PIDs are unique. heard_us: time of the scheduler's
-- latest sign of life.
CREATE TABLE IF NOT EXISTS lease_owner (
  slot INTEGER PRIMARY KEY AUTOINCREMENT,
  host TEXT NOT NULL,
  process INTEGER NOT NULL,
  started INTEGER NOT NULL,
  space TEXT NOT NULL,
  worker INTEGER NOT NULL DEFAULT 0,
  worker_started INTEGER NOT NULL DEFAULT 0,
  heard_us INTEGER NOT NULL
) STRICT;
-- The latest lease of each trial. fence: greater than every earlier fence. outcome: outcome of the attempt that ended the
-- lease; '': it was given back, or its scheduler retries the trial; NULL: it is held.
CREATE TABLE IF NOT EXISTS lease (
  fence INTEGER PRIMARY KEY AUTOINCREMENT,
  key TEXT NOT NULL UNIQUE,
  slot INTEGER NOT NULL,
  outcome TEXT
) STRICT;
CREATE INDEX IF NOT EXISTS lease_held ON lease (slot) WHERE outcome IS NULL;
