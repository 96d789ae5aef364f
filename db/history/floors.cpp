#include "db/history/floors.h"

#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

void put_floors(SQLite::Database& database, const KnownFloors& floors) {
  Statement put(database,
                "INSERT OR REPLACE INTO floor (digest, task, test_rows, version, found_s, metric, examples, train_size, "
                "floors, left_out) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  put.bind(1, floors.digest);
  put.bind(2, json_text(floors.task));
  put.bind(3, floors.rows);
  put.bind(4, floors.version);
  put.bind(5, floors.found_s);
  put.bind(6, floors.metric);
  put.bind(7, floors.examples);
  put.bind(8, floors.train_size);
  put.bind(9, json_text(floors.floors));
  put.bind(10, json_text(floors.left_out));
  execute(put);
}

std::optional<KnownFloors> find_floors(SQLite::Database& database, const std::string& digest, const nlohmann::json& task,
                                       std::int64_t rows) {
  Statement ask(
      database,
      "SELECT version, found_s, metric, examples, train_size, floors, left_out FROM floor WHERE digest = ? AND task = ? AND "
      "test_rows = ?");
  ask.bind(1, digest);
  ask.bind(2, json_text(task));
  ask.bind(3, rows);
  if (!ask.executeStep()) return std::nullopt;
  KnownFloors floors{digest, task, rows};
  floors.version = ask.getColumn(0).getInt64();
  floors.found_s = ask.getColumn(1).getInt64();
  floors.metric = ask.getColumn(2).getString();
  floors.examples = ask.getColumn(3).getInt64();
  floors.train_size = ask.getColumn(4).getInt64();
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
