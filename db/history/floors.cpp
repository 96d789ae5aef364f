#include "db/history/floors.h"

#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

void put_floors(SQLite::Database& database, const KnownFloors& floors) {
  Statement put(
      database,
      "INSERT OR REPLACE INTO floor (digest, task, test_rows, train_rows, train_lanes, version, found_s, metric, examples, "
      "train_size, seen, floors, left_out) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  execute(put, floors.digest, json_text(floors.task), floors.rows.test, floors.rows.train, floors.rows.lanes, floors.version,
          floors.found_s, floors.metric, floors.examples, floors.train_size, floors.seen, json_text(floors.floors),
          json_text(floors.left_out));
}

std::optional<KnownFloors> find_floors(SQLite::Database& database, const std::string& digest, const nlohmann::json& task,
                                       const ExampleRows& rows) {
  // Floors of the same rows match. Floors that have seen the whole split (seen = train_size) also match if the trials train on
  // at least as many rows as these floors. Floors with train_rows = 0 have train_size rows.
  Statement ask(database,
                "SELECT version, found_s, metric, examples, train_size, floors, left_out, train_rows, train_lanes, seen FROM "
                "floor WHERE digest = ?1 AND task = ?2 AND test_rows = ?3 AND ((train_rows = ?4 AND train_lanes IN (0, ?5)) OR "
                "(?4 > 0 AND seen = train_size AND (train_rows BETWEEN 1 AND ?4 OR (train_rows = 0 AND train_size <= ?4)))) "
                "ORDER BY version DESC, left_out = '[]' DESC, train_rows = ?4 DESC, train_rows DESC, found_s DESC LIMIT 1");
  SQLite::bind(ask, digest, json_text(task), rows.test, rows.train, rows.lanes);
  if (!ask.executeStep()) return std::nullopt;
  KnownFloors floors{digest, task, {rows.test, ask.getColumn(7).getInt64(), ask.getColumn(8).getInt64()}};
  floors.version = ask.getColumn(0).getInt64();
  floors.found_s = ask.getColumn(1).getInt64();
  floors.metric = ask.getColumn(2).getString();
  floors.examples = ask.getColumn(3).getInt64();
  floors.train_size = ask.getColumn(4).getInt64();
  floors.seen = ask.getColumn(9).getInt64();
  floors.floors = stored_json(ask.getColumn(5).getString());
  const auto left_out = stored_json(ask.getColumn(6).getString());
  if (!floors.floors.is_array() || !left_out.is_array()) return std::nullopt;
  for (const auto& name : left_out) {
    if (!name.is_string()) return std::nullopt;
    floors.left_out.push_back(name.get<std::string>());
  }
  return floors;
}

}  // namespace ablate::db
