#include "db/questions/task_floors.h"

#include <algorithm>

#include "db/history/floors.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

using nlohmann::json;

std::string text_in(const json& floor, const char* name) {
  return floor.contains(name) && floor.at(name).is_string() ? one_row(floor.at(name).get<std::string>()) : "";
}

std::int64_t trained_in(const json& floor) {
  return floor.contains("trained") && floor.at("trained").is_number_integer() ? floor.at("trained").get<std::int64_t>() : 0;
}

/// Adds a data set's floors to those of the ones before. @return whether they are of the same predictors
bool add_floors(const KnownFloors& known, bool is_first, TaskFloors& to) {
  std::vector<KnownFloor> floors;
  for (const auto& floor : known.floors) {
    if (!floor.is_object() || !floor.contains("value") || !floor.at("value").is_number()) return false;
    floors.push_back(
        {text_in(floor, "name"), text_in(floor, "how"), floor.at("value").get<double>(), trained_in(floor) >= known.seen});
  }
  if (floors.empty() || known.examples < 1) return false;
  if (is_first) {
    to = {known.metric, known.examples, known.train_size, known.seen, std::move(floors), {}};
    return true;
  }
  if (known.metric != to.metric || floors.size() != to.all.size()) return false;
  to.examples = std::min(to.examples, known.examples), to.train_size = std::min(to.train_size, known.train_size);
  to.seen = std::min(to.seen, known.seen);
  for (std::size_t i = 0; i < floors.size(); ++i) {
    if (floors[i].name != to.all[i].name) return false;
    to.all[i].value += floors[i].value;
    if (floors[i].how != to.all[i].how) to.all[i].how.clear();
    to.all[i].saw_all = to.all[i].saw_all && floors[i].saw_all;
  }
  return true;
}

}  // namespace

std::optional<TaskFloors> task_floors(SQLite::Database& database, const std::vector<AskedData>& asked, std::int64_t version) {
  TaskFloors floors;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto known = find_floors(database, asked[i].digest, asked[i].task, asked[i].rows);
    if (!known || known->version != version || !add_floors(*known, i == 0, floors)) return std::nullopt;
    for (const auto& name : known->left_out) floors.left_out.insert(one_row(name));
  }
  for (auto& floor : floors.all) floor.value /= static_cast<double>(asked.size());
  return floors;
}

}  // namespace ablate::db
