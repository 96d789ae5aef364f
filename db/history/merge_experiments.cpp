#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "db/history/imports.h"
#include "db/history/merge.h"
#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// An experiment as one of the two files has it, in words that both share.
struct Grid {
  std::int64_t listed_us = 0;
  json study;      ///< description, file, text, overrides
  json listed;     ///< [[key, cell], ...] in grid order, without imported ones
  json imported;   ///< [[key, cell], ...] of those that were imported and are listed behind these, in their order
  json earlier;    ///< keys of those that are listed no more, in their order
  json published;  ///< [[metric, key, value, source], ...]

  /// The later one is greater.
  auto rank() const { return std::tie(listed_us, study, listed, published); }
  bool operator==(const Grid&) const = default;
};

json value_of(const SQLite::Column& column) {
  if (column.isNull()) return nullptr;
  if (column.isFloat()) return column.getDouble();
  if (column.isInteger()) return column.getInt64();
  return column.getString();
}

std::string text_of(const json& value) { return value.is_string() ? value.get<std::string>() : ""; }

/// All rows. @param file "main" or "other", which stands for {} in the SQL
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
  grid.listed = rows(database, "SELECT t.key, e.cell " + listed + "AND NOT " + is_imported + "ORDER BY e.position, t.key", file,
                     experiment);
  grid.imported =
      rows(database, "SELECT t.key, e.cell " + listed + "AND " + is_imported + "ORDER BY e.position, t.key", file, experiment);
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

/// The rows of an experiment that has just come are those of the other file.
constexpr const char* kAsThere = R"sql(
INSERT INTO main.experiment_trial (experiment, trial, position, listed, cell)
  SELECT :here, t.id, e.position, e.listed, e.cell FROM other.experiment_trial e LEFT JOIN trial_of t ON t.old = e.trial
  WHERE e.experiment = :there;
INSERT INTO main.published_value (experiment, metric, trial, value, source)
  SELECT :here, p.metric, t.id, p.value, p.source FROM other.published_value p LEFT JOIN trial_of t ON t.old = p.trial
  WHERE p.experiment = :there;
)sql";

/// Those that only one of the files has, or lists, stand behind the later grid by their keys: an order that both files know.
/// Imported trials that either grid lists stand before them and stay listed: a grid of another machine has not left them out.
/// Their cells are those of the later grid's file, or else get the numbers behind these.
constexpr const char* kUnited = R"sql(
CREATE TEMP TABLE member (trial INTEGER NOT NULL, listed INTEGER NOT NULL, cell INTEGER, is_later INTEGER NOT NULL);
INSERT INTO member SELECT trial, listed, cell, NOT :theirs FROM main.experiment_trial WHERE experiment = :here
  UNION ALL SELECT x.id, e.listed, e.cell, :theirs FROM other.experiment_trial e JOIN trial_of x ON x.old = e.trial
  WHERE e.experiment = :there;
CREATE TEMP TABLE numbered AS
  SELECT coalesce(max(iif(cell < -1, -2 - cell, cell)), -1) + 1 AS cells FROM member WHERE is_later;
CREATE TEMP TABLE imported (trial INTEGER PRIMARY KEY, listed INTEGER NOT NULL, cell INTEGER);
INSERT INTO imported SELECT trial, max(listed), coalesce(max(iif(is_later, cell, NULL)), max(iif(cell < -1, cell - cells, cell + cells)))
  FROM member m, numbered
  WHERE EXISTS (SELECT 1 FROM main.attempt a WHERE a.trial = m.trial AND a.environment IN (:imported)) GROUP BY trial;
CREATE TEMP TABLE united (trial INTEGER PRIMARY KEY, position INTEGER NOT NULL, listed INTEGER NOT NULL, cell INTEGER);
INSERT INTO united SELECT trial, row_number() OVER (ORDER BY position, key) - 1, 1, cell FROM (
  SELECT e.trial, e.position, t.key, e.cell FROM main.experiment_trial e JOIN main.trial t ON t.id = e.trial
  WHERE NOT :theirs AND e.experiment = :here AND e.listed AND t.id NOT IN (SELECT trial FROM imported)
  UNION ALL
  SELECT x.id, e.position, t.key, e.cell FROM other.experiment_trial e JOIN other.trial t ON t.id = e.trial
  JOIN trial_of x ON x.old = e.trial WHERE :theirs AND e.experiment = :there AND e.listed
    AND x.id NOT IN (SELECT trial FROM imported));
INSERT INTO united SELECT t.id, (SELECT count(*) FROM united) + row_number() OVER (ORDER BY t.key) - 1, 1, i.cell
  FROM imported i JOIN main.trial t ON t.id = i.trial WHERE i.listed;
INSERT INTO united SELECT t.id, (SELECT count(*) FROM united) + row_number() OVER (ORDER BY t.key) - 1, 0, NULL
  FROM main.trial t WHERE t.id NOT IN (SELECT trial FROM united) AND t.id IN (
    SELECT trial FROM main.experiment_trial WHERE experiment = :here
    UNION SELECT x.id FROM other.experiment_trial e JOIN trial_of x ON x.old = e.trial WHERE e.experiment = :there);
DELETE FROM main.experiment_trial WHERE experiment = :here;
INSERT INTO main.experiment_trial (experiment, trial, position, listed, cell)
  SELECT :here, trial, position, listed, cell FROM united;
)sql";

/// Counts the done trials that one of the grids listed, and whose settings no listed trial has now.
constexpr const char* kLeftOut = R"sql(
SELECT count(*) FROM main.trial t WHERE t.id IN (SELECT trial FROM temp.member WHERE listed)
  AND EXISTS (SELECT 1 FROM main.attempt a WHERE a.trial = t.id AND a.outcome = 'done')
  AND t.configuration NOT IN (SELECT l.configuration FROM temp.united u JOIN main.trial l ON l.id = u.trial WHERE u.listed)
)sql";

/// A study's file, text and published values go with its latest grid.
constexpr const char* kTheirs = R"sql(
UPDATE main.experiment SET (description, file, text, overrides, listed_us)
  = (SELECT description, file, text, overrides, listed_us FROM other.experiment WHERE id = :there) WHERE id = :here;
DELETE FROM main.published_value WHERE experiment = :here;
INSERT INTO main.published_value (experiment, metric, trial, value, source)
  SELECT :here, p.metric, t.id, p.value, p.source FROM other.published_value p LEFT JOIN trial_of t ON t.old = p.trial
  WHERE p.experiment = :there;
)sql";

}  // namespace

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
      left_out.push_back({name, lost, text_of(earlier.at(1)), {}});
      for (const auto& one : stored_json(text_of(earlier.at(3)))) left_out.back().overrides.push_back(text_of(one));
    }
    for (const auto* table : {"member", "numbered", "united", "imported"})
      database.exec(fmt::format("DROP TABLE temp.{}", table));
    if (theirs) write(kTheirs, true);
  }
  return left_out;
}

}  // namespace ablate::db
