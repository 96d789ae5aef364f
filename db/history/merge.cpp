#include "db/history/merge.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "core/util/error.h"
#include "db/history/imports.h"
#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"
#include "db/types/metric_declaration.h"

namespace ablate::db {
namespace {

/// Copies a table's rows in their order, except rows whose natural key is already here. Fills the temporary table NAME_of (old,
/// id, fresh): `id` is the new number of the other table's row `old`, and `fresh` is 1 for a row that was just copied.
void take(SQLite::Database& database, const char* table, const char* key, const char* columns) {
  const auto before = database.execAndGet(fmt::format("SELECT coalesce(max(id), 0) FROM main.{}", table)).getInt64();
  database.exec(
      fmt::format("INSERT INTO main.{0} ({1}) SELECT {1} FROM other.{0} WHERE true ORDER BY id ON CONFLICT ({2}) DO NOTHING;"
                  "CREATE TEMP TABLE {0}_of (old INTEGER PRIMARY KEY, id INTEGER NOT NULL, fresh INTEGER NOT NULL);"
                  "INSERT INTO {0}_of SELECT o.id, m.id, m.id > {3} FROM other.{0} o JOIN main.{0} m USING ({2});",
                  table, columns, key, before));
}

/// Copies tables that store each row once. If the other file lacks a row that one of its rows refers to, the SQL below inserts
/// NULL. The main file's columns refuse NULL, so the merge fails and nothing is lost in silence.
void take_names(SQLite::Database& database) {
  take(database, "environment", "hash", "hash, json");
  take(database, "basis", "hash", "hash, json");
  take(database, "path", "name", "name");
  take(database, "metric", "name", "name, unit, direction, description, kind, owner, of_steps");
  constexpr const char* kPlugin = "kind, name, version, code_identity, content_hash, path";
  take(database, "plugin", kPlugin, kPlugin);
  take(database, "setting", "hash", "hash");
  take(database, "plugin_set", "hash", "hash");
  take(database, "trial", "key", "key, configuration");
  take(database, "experiment", "name", "name, description, file, text, overrides, listed_us");
  database.exec(R"sql(
INSERT INTO main.value (path, type, text, number)
  SELECT p.id, o.type, o.text, o.number FROM other.value o LEFT JOIN path_of p ON p.old = o.path WHERE true ORDER BY o.id
  ON CONFLICT (path, text, type) DO NOTHING;
CREATE TEMP TABLE value_of (old INTEGER PRIMARY KEY, id INTEGER NOT NULL);
INSERT INTO value_of SELECT o.id, m.id FROM other.value o JOIN path_of p ON p.old = o.path
  JOIN main.value m ON (m.path, m.text, m.type) = (p.id, o.text, o.type);
INSERT INTO main.parameter (path, setting, value)
  SELECT p.id, s.id, v.id FROM other.parameter o JOIN setting_of s ON s.old = o.setting AND s.fresh
  LEFT JOIN path_of p ON p.old = o.path LEFT JOIN value_of v ON v.old = o.value;
INSERT INTO main.plugin_of_set (plugin_set, plugin, verdict, failed_checks, place, length, checked_length)
  SELECT s.id, p.id, o.verdict, o.failed_checks, o.place, o.length, o.checked_length
  FROM other.plugin_of_set o JOIN plugin_set_of s ON s.old = o.plugin_set AND s.fresh LEFT JOIN plugin_of p ON p.old = o.plugin;
)sql");
}

/// Throws Error if a metric has different units or directions in the two histories: its numbers would be misread.
void expect_one_definition(SQLite::Database& database, const std::filesystem::path& other) {
  SQLite::Statement ask(database,
                        "SELECT m.name, m.unit, m.direction, o.unit, o.direction FROM other.metric o JOIN main.metric m USING "
                        "(name) WHERE (o.unit, o.direction) <> (m.unit, m.direction) ORDER BY m.name");
  if (!ask.executeStep()) return;
  const auto text = [&](int column) { return ask.getColumn(column).getString(); };
  throw Error(fmt::format(
      "{} cannot be merged: found metric {}{} there, expected {}, as in {}. Nothing was copied. A new attempt (`ablate run "
      "--again`) corrects the wrong definition in its history. Import trials with the wrong definition again, into a new "
      "history",
      other.string(), text(0), declaration_text(text(3), text(4)), declaration_text(text(1), text(2)), database.getFilename()));
}

/// Takes the description of a metric from the history that used the metric last.
constexpr const char* kDefinitions = R"sql(
CREATE TEMP TABLE defined AS
  SELECT m.id, o.description, o.kind, o.owner, o.of_steps,
    (SELECT coalesce(max(a.turn), 0) FROM other.result r JOIN other.attempt a ON a.id = r.attempt WHERE r.metric = o.id) AS used,
    (SELECT coalesce(max(a.turn), 0) FROM main.result r JOIN main.attempt a ON a.id = r.attempt WHERE r.metric = m.id) AS used_here
  FROM metric_of x JOIN other.metric o ON o.id = x.old JOIN main.metric m ON m.id = x.id
  WHERE NOT x.fresh AND (o.description, o.kind, o.owner, o.of_steps) <> (m.description, m.kind, m.owner, m.of_steps);
UPDATE main.metric AS m SET (description, kind, owner, of_steps) = (d.description, d.kind, d.owner, d.of_steps)
  FROM defined d WHERE d.id = m.id AND (d.used, d.description, d.kind, d.owner, d.of_steps)
    > (d.used_here, m.description, m.kind, m.owner, m.of_steps);
)sql";

/// A trial's settings come from its latest done attempt, else from its latest attempt.
constexpr const char* kSettings = R"sql(
CREATE TEMP TABLE settled (old INTEGER PRIMARY KEY, id INTEGER NOT NULL, fresh INTEGER NOT NULL);
INSERT INTO settled SELECT old, id, fresh FROM trial_of WHERE fresh;
INSERT INTO settled
  SELECT x.old, x.id, 0 FROM trial_of x JOIN other.resolved o ON o.trial = x.old LEFT JOIN main.resolved m ON m.trial = x.id
  WHERE NOT x.fresh AND o.json IS NOT m.json AND (
    EXISTS (SELECT 1 FROM other.attempt WHERE trial = x.old AND outcome = 'done'),
    coalesce((SELECT max(turn) FROM other.attempt WHERE trial = x.old AND outcome = 'done'),
             (SELECT max(turn) FROM other.attempt WHERE trial = x.old), 0), o.json) > (
    EXISTS (SELECT 1 FROM main.attempt WHERE trial = x.id AND outcome = 'done'),
    coalesce((SELECT max(turn) FROM main.attempt WHERE trial = x.id AND outcome = 'done'),
             (SELECT max(turn) FROM main.attempt WHERE trial = x.id), 0), coalesce(m.json, ''));
UPDATE main.trial AS t SET (configuration, setting, seed)
    = (CASE WHEN x.id IS NOT NULL AND (o.seed IS NULL OR v.id IS NOT NULL) THEN o.configuration END, x.id, v.id)
  FROM settled s JOIN other.trial o ON o.id = s.old LEFT JOIN setting_of x ON x.old = o.setting LEFT JOIN value_of v ON v.old = o.seed
  WHERE s.id = t.id;
DELETE FROM main.resolved WHERE trial IN (SELECT id FROM settled WHERE NOT fresh);
INSERT INTO main.resolved (trial, json) SELECT s.id, o.json FROM settled s JOIN other.resolved o ON o.trial = s.old ORDER BY s.id;
INSERT INTO main.key_part (trial, basis, settings_hash, settings)
  SELECT x.id, b.id, o.settings_hash, o.settings FROM other.key_part o JOIN trial_of x ON x.old = o.trial
  LEFT JOIN basis_of b ON b.old = o.basis WHERE true ON CONFLICT (trial) DO NOTHING;
)sql";

constexpr const char* kAttempts = R"sql(
CREATE TEMP TABLE came (old INTEGER PRIMARY KEY, id INTEGER NOT NULL);
INSERT INTO came
  SELECT o.id, (SELECT coalesce(max(id), 0) FROM main.attempt) + row_number() OVER (ORDER BY o.id) FROM other.attempt o
  WHERE NOT EXISTS (SELECT 1 FROM main.attempt m WHERE m.uid = o.uid);
CREATE TEMP TABLE known (old INTEGER PRIMARY KEY, id INTEGER NOT NULL);
INSERT INTO known SELECT o.id, m.id FROM other.attempt o JOIN main.attempt m ON m.uid = o.uid;
INSERT INTO main.attempt (id, trial, outcome, reason, started_us, wall_s, cpu_s, peak_resident_bytes, signal, exit_code,
    environment, output, step, steps, main_metric, uid, turn, plugin_set)
  SELECT c.id, t.id, CASE WHEN o.plugin_set IS NULL OR u.id IS NOT NULL THEN o.outcome END,
    o.reason, o.started_us, o.wall_s, o.cpu_s, o.peak_resident_bytes, o.signal, o.exit_code,
    e.id, o.output, o.step, o.steps, m.id, o.uid, o.turn, u.id
  FROM came c JOIN other.attempt o ON o.id = c.old LEFT JOIN trial_of t ON t.old = o.trial
  LEFT JOIN environment_of e ON e.old = o.environment LEFT JOIN metric_of m ON m.old = o.main_metric
  LEFT JOIN plugin_set_of u ON u.old = o.plugin_set ORDER BY c.id;
INSERT INTO main.result (metric, attempt, value)
  SELECT m.id, c.id, o.value FROM other.result o JOIN came c ON c.old = o.attempt LEFT JOIN metric_of m ON m.old = o.metric;
INSERT INTO main.curve (attempt, metric, step, value)
  SELECT c.id, m.id, o.step, o.value FROM came c CROSS JOIN other.curve o ON o.attempt = c.old
  LEFT JOIN metric_of m ON m.old = o.metric;
INSERT INTO main.artifact (kind, name, attempt, bytes, of_bytes, removed_us)
  SELECT o.kind, o.name, c.id, o.bytes, o.of_bytes, o.removed_us FROM came c CROSS JOIN other.artifact o ON o.attempt = c.old
  WHERE true ON CONFLICT DO NOTHING;
)sql";

/// Keeps for each code the latest verdict of the latest suite, and the longest checked lengths. Keeps for each data set the
/// latest audit and floors. Floors of all predictors win over floors of some predictors.
constexpr const char* kVerdicts = R"sql(
INSERT INTO main.verdict (kind, plugin, code_identity, suite, checked_s, verdict, failed_checks)
  SELECT kind, plugin, code_identity, suite, checked_s, verdict, failed_checks FROM other.verdict WHERE true
  ON CONFLICT DO UPDATE SET suite = excluded.suite, checked_s = excluded.checked_s, verdict = excluded.verdict,
    failed_checks = excluded.failed_checks
  WHERE (excluded.suite, excluded.checked_s, excluded.verdict, excluded.failed_checks) > (suite, checked_s, verdict, failed_checks);
INSERT INTO main.checked_length (kind, plugin, code_identity, place, suite, length)
  SELECT kind, plugin, code_identity, place, suite, length FROM other.checked_length WHERE true
  ON CONFLICT DO UPDATE SET suite = excluded.suite, length = excluded.length
  WHERE (excluded.suite, excluded.length) > (suite, length);
INSERT INTO main.audit (digest, task, parameters, suite, audited_s, verdict, findings)
  SELECT digest, task, parameters, suite, audited_s, verdict, findings FROM other.audit WHERE true
  ON CONFLICT DO UPDATE SET parameters = excluded.parameters, suite = excluded.suite, audited_s = excluded.audited_s,
    verdict = excluded.verdict, findings = excluded.findings
  WHERE (excluded.audited_s, excluded.suite, excluded.verdict, excluded.findings, excluded.parameters)
    > (audited_s, suite, verdict, findings, parameters);
INSERT INTO main.floor (digest, task, test_rows, train_rows, train_lanes, version, found_s, metric, examples, train_size, seen,
                        floors, left_out)
  SELECT digest, task, test_rows, train_rows, train_lanes, version, found_s, metric, examples, train_size, seen, floors, left_out
  FROM other.floor WHERE true
  ON CONFLICT DO UPDATE SET version = excluded.version, found_s = excluded.found_s, metric = excluded.metric,
    examples = excluded.examples, train_size = excluded.train_size, seen = excluded.seen, floors = excluded.floors,
    left_out = excluded.left_out
  WHERE (excluded.version, excluded.left_out = '[]', excluded.found_s, excluded.floors, excluded.left_out) >
    (version, left_out = '[]', found_s, floors, left_out);
)sql";

/// Tags and notes of experiments. Notes with equal text and time are the same note.
constexpr const char* kRemarks = R"sql(
INSERT INTO main.tag (experiment, tag)
  SELECT x.id, o.tag FROM other.tag o JOIN experiment_of x ON x.old = o.experiment WHERE true ON CONFLICT DO NOTHING;
INSERT INTO main.note (experiment, written_us, text)
  SELECT x.id, o.written_us, o.text FROM other.note o JOIN experiment_of x ON x.old = o.experiment
  WHERE NOT EXISTS (SELECT 1 FROM main.note m WHERE m.experiment = x.id AND m.written_us = o.written_us AND m.text = o.text)
  ORDER BY o.written_us, o.id;
)sql";

/// Two proofs are equal if they have the same time, bases and environment.
constexpr const char* kProofs = R"sql(
INSERT INTO main.proof (proven_us, before, now, environment)
  SELECT o.proven_us, o.before, o.now, e.id FROM other.proof o LEFT JOIN environment_of e ON e.old = o.environment
  WHERE NOT EXISTS (SELECT 1 FROM main.proof m WHERE (m.proven_us, m.before, m.now, m.environment)
                    = (o.proven_us, o.before, o.now, e.id)) ORDER BY o.proven_us, o.id;
CREATE TEMP TABLE proof_of (old INTEGER PRIMARY KEY, id INTEGER NOT NULL);
INSERT INTO proof_of SELECT o.id, m.id FROM other.proof o JOIN environment_of e ON e.old = o.environment
  JOIN main.proof m ON (m.proven_us, m.before, m.now, m.environment) = (o.proven_us, o.before, o.now, e.id);
INSERT INTO main.proof_attempt (proof, attempt)
  SELECT p.id, m.id FROM other.proof_attempt o LEFT JOIN proof_of p ON p.old = o.proof
  LEFT JOIN other.attempt a ON a.id = o.attempt LEFT JOIN main.attempt m ON m.uid = a.uid WHERE true ON CONFLICT DO NOTHING;
INSERT INTO main.alias (key, trial, proof, basis, rests_on)
  SELECT o.key, t.id, p.id, b.id, o.rests_on FROM other.alias o LEFT JOIN trial_of t ON t.old = o.trial
  LEFT JOIN proof_of p ON p.old = o.proof LEFT JOIN basis_of b ON b.old = o.basis WHERE true ON CONFLICT DO NOTHING;
)sql";

/// Raises the fence counter: a copied checkpoint must have a lower fence than every later lease here.
constexpr const char* kFences = R"sql(
INSERT INTO main.sqlite_sequence (name, seq) SELECT 'lease', 0
  WHERE NOT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE name = 'lease');
UPDATE main.sqlite_sequence SET seq = max(seq, coalesce((SELECT max(seq) FROM other.sqlite_sequence WHERE name = 'lease'), 0))
  WHERE name = 'lease';
)sql";

using nlohmann::json;
using SQLite::Statement;

/// An experiment's grid in one of the two files, with keys instead of row numbers, so that both files' grids can be compared.
struct Grid {
  std::int64_t listed_us = 0;
  json study;      ///< description, file, text, overrides
  json listed;     ///< [[key, role, cell], ...] in grid order, without imported trials
  json imported;   ///< [[key, role, cell], ...] of imported trials, in their order after `listed`
  json earlier;    ///< keys of trials that are no longer listed, in their order
  json published;  ///< [[metric, key, value, source], ...]

  /// Sort key: the later grid is greater.
  auto rank() const { return std::tie(listed_us, study, listed, published); }
  bool operator==(const Grid&) const = default;
};

json value_of(const SQLite::Column& column) {
  if (column.isNull()) return nullptr;
  if (column.isFloat()) return column.getDouble();
  if (column.isInteger()) return column.getInt64();
  return column.getString();
}

std::string string_or_empty(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

/// Returns all rows. `file` is "main" or "other", and replaces {} in the SQL.
json rows(SQLite::Database& database, const std::string& sql, const char* file, std::int64_t experiment) {
  Statement ask(database, fmt::format(fmt::runtime(sql), file));
  ask.bind(1, experiment);
  auto all = json::array();
  while (ask.executeStep()) {
    auto row = json::array();
    for (int i = 0; i < ask.getColumnCount(); ++i) row.push_back(value_of(ask.getColumn(i)));
    all.push_back(std::move(row));
  }
  return all;
}

Grid grid_of(SQLite::Database& database, const char* file, std::int64_t experiment) {
  Grid grid;
  const auto study =
      rows(database, "SELECT listed_us, description, file, text, overrides FROM {}.experiment WHERE id = ?", file, experiment);
  grid.listed_us = study.at(0).at(0);
  grid.study = json(study.at(0).begin() + 1, study.at(0).end());
  const auto is_imported = fmt::format("EXISTS (SELECT 1 FROM {{0}}.attempt a WHERE a.trial = t.id AND a.environment IN ({})) ",
                                       kImportedEnvironments);
  const std::string listed =
      "FROM {0}.experiment_trial e JOIN {0}.trial t ON t.id = e.trial WHERE e.experiment = ? AND e.listed ";
  grid.listed =
      rows(database, "SELECT t.key, e.role, e.cell " + listed + "AND NOT " + is_imported + "ORDER BY e.position, t.key", file,
           experiment);
  grid.imported = rows(database, "SELECT t.key, e.role, e.cell " + listed + "AND " + is_imported + "ORDER BY e.position, t.key",
                       file, experiment);
  grid.earlier = rows(database,
                      "SELECT t.key FROM {0}.experiment_trial e JOIN {0}.trial t ON t.id = e.trial WHERE e.experiment = ? AND "
                      "NOT e.listed ORDER BY e.position, t.key",
                      file, experiment);
  grid.published = rows(database,
                        "SELECT p.metric, t.key, p.value, p.source FROM {0}.published_value p JOIN {0}.trial t ON t.id = "
                        "p.trial WHERE p.experiment = ? ORDER BY p.metric, t.key",
                        file, experiment);
  return grid;
}

/// Copies the other file's rows of an experiment that is new here.
constexpr const char* kAsThere = R"sql(
INSERT INTO main.experiment_trial (experiment, trial, position, listed, role, cell)
  SELECT :here, t.id, e.position, e.listed, e.role, e.cell FROM other.experiment_trial e LEFT JOIN trial_of t ON t.old = e.trial
  WHERE e.experiment = :there;
INSERT INTO main.published_value (experiment, metric, trial, value, source)
  SELECT :here, p.metric, t.id, p.value, p.source FROM other.published_value p LEFT JOIN trial_of t ON t.old = p.trial
  WHERE p.experiment = :there;
)sql";

/// Lists the later grid first, then the imported trials that either grid lists: the later grid's file may lack the other file's
/// imports. Imported trials keep the cells of the later grid's file, or get the next free cells. All other trials of both files
/// come last, not listed. The last two groups are ordered by key, so both directions of a merge give the same order.
constexpr const char* kUnited = R"sql(
CREATE TEMP TABLE member (trial INTEGER NOT NULL, listed INTEGER NOT NULL, role TEXT, cell INTEGER, is_later INTEGER NOT NULL);
INSERT INTO member SELECT trial, listed, role, cell, NOT :theirs FROM main.experiment_trial WHERE experiment = :here
  UNION ALL SELECT x.id, e.listed, e.role, e.cell, :theirs FROM other.experiment_trial e JOIN trial_of x ON x.old = e.trial
  WHERE e.experiment = :there;
CREATE TEMP TABLE numbered AS
  SELECT coalesce(max(cell), -1) + 1 AS cells FROM member WHERE is_later;
CREATE TEMP TABLE imported (trial INTEGER PRIMARY KEY, listed INTEGER NOT NULL, role TEXT, cell INTEGER);
INSERT INTO imported SELECT trial, max(listed), coalesce(max(iif(is_later, role, NULL)), max(role)),
    coalesce(max(iif(is_later, cell, NULL)), max(cell + cells))
  FROM member m, numbered
  WHERE EXISTS (SELECT 1 FROM main.attempt a WHERE a.trial = m.trial AND a.environment IN (:imported)) GROUP BY trial;
CREATE TEMP TABLE united (trial INTEGER PRIMARY KEY, position INTEGER NOT NULL, listed INTEGER NOT NULL, role TEXT NOT NULL, cell INTEGER);
INSERT INTO united SELECT trial, row_number() OVER (ORDER BY position, key) - 1, 1, role, cell FROM (
  SELECT e.trial, e.position, t.key, e.role, e.cell FROM main.experiment_trial e JOIN main.trial t ON t.id = e.trial
  WHERE NOT :theirs AND e.experiment = :here AND e.listed AND t.id NOT IN (SELECT trial FROM imported)
  UNION ALL
  SELECT x.id, e.position, t.key, e.role, e.cell FROM other.experiment_trial e JOIN other.trial t ON t.id = e.trial
  JOIN trial_of x ON x.old = e.trial WHERE :theirs AND e.experiment = :there AND e.listed
    AND x.id NOT IN (SELECT trial FROM imported));
INSERT INTO united SELECT t.id, (SELECT count(*) FROM united) + row_number() OVER (ORDER BY t.key) - 1, 1, i.role, i.cell
  FROM imported i JOIN main.trial t ON t.id = i.trial WHERE i.listed;
INSERT INTO united SELECT t.id, (SELECT count(*) FROM united) + row_number() OVER (ORDER BY t.key) - 1, 0, (SELECT max(role) FROM member m WHERE m.trial = t.id), NULL
  FROM main.trial t WHERE t.id NOT IN (SELECT trial FROM united) AND t.id IN (
    SELECT trial FROM main.experiment_trial WHERE experiment = :here
    UNION SELECT x.id FROM other.experiment_trial e JOIN trial_of x ON x.old = e.trial WHERE e.experiment = :there);
DELETE FROM main.experiment_trial WHERE experiment = :here;
INSERT INTO main.experiment_trial (experiment, trial, position, listed, role, cell)
  SELECT :here, trial, position, listed, role, cell FROM united;
)sql";

/// Counts the done trials of both grids that the merge leaves out: no trial of the new list has the same settings.
constexpr const char* kLeftOut = R"sql(
SELECT count(*) FROM main.trial t WHERE t.id IN (SELECT trial FROM temp.member WHERE listed)
  AND EXISTS (SELECT 1 FROM main.attempt a WHERE a.trial = t.id AND a.outcome = 'done')
  AND t.configuration NOT IN (SELECT l.configuration FROM temp.united u JOIN main.trial l ON l.id = u.trial WHERE u.listed)
)sql";

/// Takes the study's file, text and published values from the other file, whose grid is later.
constexpr const char* kTheirs = R"sql(
UPDATE main.experiment SET (description, file, text, overrides, listed_us)
  = (SELECT description, file, text, overrides, listed_us FROM other.experiment WHERE id = :there) WHERE id = :here;
DELETE FROM main.published_value WHERE experiment = :here;
INSERT INTO main.published_value (experiment, metric, trial, value, source)
  SELECT :here, p.metric, t.id, p.value, p.source FROM other.published_value p LEFT JOIN trial_of t ON t.old = p.trial
  WHERE p.experiment = :there;
)sql";

/// Merges experiments with their grids.
std::vector<LeftOut> merge_experiments(SQLite::Database& database) {
  std::vector<LeftOut> left_out;
  struct Pair {
    std::int64_t there, here;
    bool fresh;
    std::string name;
  };
  std::vector<Pair> pairs;
  Statement all(
      database,
      "SELECT o.old, o.id, o.fresh, e.name FROM experiment_of o JOIN main.experiment e ON e.id = o.id ORDER BY o.old");
  while (all.executeStep())
    pairs.push_back({all.getColumn(0).getInt64(), all.getColumn(1).getInt64(), all.getColumn(2).getInt() != 0,
                     all.getColumn(3).getString()});
  for (const auto& [there, here, fresh, name] : pairs) {
    const auto write = [&, at_there = there, at_here = here](std::string sql, bool theirs) {
      for (const auto& [word, value] : {std::pair<std::string, std::string>{":theirs", theirs ? "1" : "0"},
                                        {":there", std::to_string(at_there)},
                                        {":here", std::to_string(at_here)},
                                        {":imported", fmt::format(kImportedEnvironments, "main")}})
        for (std::size_t at = 0; (at = sql.find(word, at)) != std::string::npos;) sql.replace(at, word.size(), value);
      database.exec(sql);
    };
    if (fresh) {
      write(kAsThere, true);
      continue;
    }
    const auto mine = grid_of(database, "main", here), other = grid_of(database, "other", there);
    if (mine == other) continue;
    const bool theirs = other.rank() > mine.rank();
    const auto& earlier = theirs ? mine.study : other.study;
    write(kUnited, theirs);
    if (const auto lost = database.execAndGet(kLeftOut).getInt64(); lost > 0) {
      left_out.push_back({name, lost, string_or_empty(earlier.at(1)), {}});
      for (const auto& one : stored_json(string_or_empty(earlier.at(3))))
        left_out.back().overrides.push_back(string_or_empty(one));
    }
    for (const auto* table : {"member", "numbered", "united", "imported"})
      database.exec(fmt::format("DROP TABLE temp.{}", table));
    if (theirs) write(kTheirs, true);
  }
  return left_out;
}

}  // namespace

Merged merge_attached(SQLite::Database& database, const std::filesystem::path& other) {
  expect_one_definition(database, other);
  take_names(database);
  database.exec(kDefinitions);
  database.exec(kSettings);
  database.exec(kAttempts);
  auto left_out = merge_experiments(database);
  database.exec(kProofs);
  database.exec(kVerdicts);
  database.exec(kRemarks);
  database.exec(kFences);
  const auto number = [&](const char* sql) { return database.execAndGet(sql).getInt64(); };
  Merged merged{number("SELECT count(*) FROM came"),
                number("SELECT count(DISTINCT a.trial) FROM came c JOIN main.attempt a ON a.id = c.id"),
                number("SELECT count(*) FROM known")};
  merged.left_out = std::move(left_out);
  merged.other_numbers = other_numbers(database);
  for (const auto& one : unlike_attempts(database, "IN (SELECT a.trial FROM temp.came c JOIN main.attempt a ON a.id = c.id)"))
    merged.unlike.push_back(one.text);
  merged.lacked = artifacts_of(database, "IN (SELECT m.id FROM other.attempt o JOIN main.attempt m ON m.uid = o.uid)");
  std::erase_if(merged.lacked, [](const ArtifactFile& file) { return file.removed_us != 0; });
  for (const auto* table : {"environment_of", "basis_of", "path_of", "metric_of", "plugin_of", "setting_of", "plugin_set_of",
                            "trial_of", "experiment_of", "value_of", "proof_of", "defined", "settled", "came", "known"})
    database.exec(fmt::format("DROP TABLE temp.{}", table));
  return merged;
}

}  // namespace ablate::db
