#include "db/questions/asked_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "core/records/data_settings.h"
#include "core/records/outcome.h"
#include "core/util/flatten.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"
#include "db/questions/groups.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// Whether all whose data are known has the same: then no trial has to be asked.
bool has_one_digest(SQLite::Database& database) {
  std::set<std::string> digests;
  Statement ask(database,
                "SELECT iif(json_valid(json), json ->> '$.data', NULL) FROM basis UNION ALL SELECT iif(json_valid(json), json "
                "->> '$.data_digest', NULL) FROM environment");
  while (digests.size() < 2 && ask.executeStep())
    if (!ask.isColumnNull(0)) digests.insert(ask.getColumn(0).getString());
  return digests.size() < 2;
}

/// A number for each basis that a trial's key was made with; where its parts are not known, one below 0 for what an imported
/// trial may say of its data.
std::vector<std::int64_t> bases_of(SQLite::Database& database, const std::vector<SelectedTrial>& trials) {
  std::unordered_map<std::int64_t, std::int64_t> by_trial;
  Statement ask(database, "SELECT trial, basis FROM key_part");
  while (ask.executeStep()) by_trial.emplace(ask.getColumn(0).getInt64(), ask.getColumn(1).getInt64());
  std::vector<std::int64_t> bases;
  for (const auto& trial : trials) {
    const auto found = by_trial.find(trial.id);
    bases.push_back(found == by_trial.end() ? -trial.environment : found->second);
  }
  return bases;
}

std::int64_t number_in(const json& parameters, const char* path, std::int64_t otherwise) {
  const auto found = parameters.find(path);
  return found != parameters.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

/// A task's parameters as a CSV has them: without types, and what is empty is not there.
std::map<std::string, std::string> texts_of(const std::map<std::string, json>& parameters) {
  std::map<std::string, std::string> texts;
  for (const auto& [path, value] : parameters)
    if (is_of_task(path))
      if (auto text = value.is_string() ? value.get<std::string>() : json_text(value); !text.empty()) texts[path] = text;
  return texts;
}

/// The task, of those whose floors are known, that the parameters are of; else null.
json known_task(SQLite::Database& database, const std::string& digest, const json& parameters) {
  const auto texts = texts_of(parameters.get<std::map<std::string, json>>());
  Statement ask(database, "SELECT DISTINCT task FROM floor WHERE digest = ?");
  ask.bind(1, digest);
  while (ask.executeStep())
    if (auto task = stored_json(ask.getColumn(0).getString()); task.is_object() && texts_of(task_settings(task)) == texts)
      return task;
  return nullptr;
}

/// Of a trial that was imported with its data's digest: its parameters stand by their paths.
std::optional<AskedData> imported_data(SQLite::Database& database, const SelectedTrial& trial) {
  Statement ask(database,
                "SELECT e.json ->> '$.data_digest', r.json FROM environment e, resolved r WHERE e.id = ? AND r.trial = ? AND "
                "json_valid(e.json) AND e.json ->> '$.data_digest' IS NOT NULL");
  SQLite::bind(ask, trial.environment, trial.id);
  if (!ask.executeStep()) return std::nullopt;
  const auto parameters = stored_json(ask.getColumn(1).getString());
  if (!parameters.is_object() || !parameters.contains(setting::kTask)) return std::nullopt;
  const auto batch = number_in(parameters, setting::kBatch, 0), batches = number_in(parameters, setting::kTestBatches, -1);
  const auto steps = number_in(parameters, setting::kSteps, 0) * number_in(parameters, setting::kAccumulate, 1);
  if (batch < 1 || batches < 0 || steps < 1) return std::nullopt;  // not told
  const auto digest = ask.getColumn(0).getString();
  auto task = known_task(database, digest, parameters);
  if (task.is_null()) task = plugin_section(parameters.at(setting::kTask));  // without its floors: what it is called
  AskedData asked{digest, task, {batches * batch, steps * batch, batch}, trial.id};
  asked.is_imported = true;
  return asked;
}

std::optional<AskedData> asked_of(SQLite::Database& database, const SelectedTrial& of) {
  const auto trial = of.id;
  Statement ask(database,
                "SELECT b.json, r.json FROM key_part k JOIN basis b ON b.id = k.basis JOIN resolved r ON r.trial = k.trial "
                "WHERE k.trial = ?");
  ask.bind(1, trial);
  if (!ask.executeStep()) return imported_data(database, of);
  const auto basis = stored_json(ask.getColumn(0).getString());
  const auto asked = data_settings(stored_json(ask.getColumn(1).getString()));
  if (!basis.is_object() || !basis.contains("data") || !basis.at("data").is_string() || !asked) return std::nullopt;
  return AskedData{basis.at("data").get<std::string>(), asked->task, asked->rows, trial};
}

/// What the trials with a number of one cell were asked.
class AskedCell {
 public:
  void add(const AskedData& asked) {
    if (all_.empty()) rows_ = asked.rows;
    is_one_ = is_one_ && rows_ == asked.rows;
    all_.push_back(&asked);
  }
  bool is_one() const { return is_one_ && !all_.empty(); }
  const ExampleRows& rows() const { return rows_; }
  const std::vector<const AskedData*>& all() const { return all_; }

 private:
  ExampleRows rows_;
  bool is_one_ = true;
  std::vector<const AskedData*> all_;
};

}  // namespace

AskedCells asked_data(const TableTrials& from, const std::vector<Axis>& varying, const Table& table) {
  std::vector<const Axis*> axes;
  for (const auto& axis : varying)
    if (decides_rows(axis.path)) axes.push_back(&axis);
  const Groups groups(axes, from.trials.size(), true);
  return guarded(from.reader.file(), [&] {
    auto& database = from.reader.database();
    std::vector<std::int64_t> bases;
    if (!has_one_digest(database)) bases = bases_of(database, from.trials);
    std::map<std::pair<std::size_t, std::int64_t>, std::optional<AskedData>> known;  // by group and basis
    std::map<std::pair<std::size_t, ExampleRows>, std::size_t> numbers;              // by task
    AskedCells cells;
    cells.of_cell.resize(from.members.size());
    for (std::size_t i = 0; i < from.members.size(); ++i) {
      const auto& cell = table.cells[index_of(table, i, 0)];
      if (cell.tasks.size() != 1) continue;                              // over unlike tasks a mean tells nothing of any
      std::pair<std::size_t, std::int64_t> last(groups.keys.size(), 0);  // trials that stand together are alike most often
      AskedCell asked;
      for (const auto t : from.members[i]) {
        const std::pair key(groups.of_trial[t], bases.empty() ? 0 : bases[t]);
        if (key == last || from.trials[t].outcome != outcome::kDone) continue;
        last = key;
        auto [at, fresh] = known.try_emplace(key);
        if (fresh) at->second = asked_of(database, from.trials[t]);
        if (fresh && at->second) at->second->experiment = from.trials[t].experiment;
        if (at->second) asked.add(*at->second);
      }
      if (!asked.is_one()) continue;
      const auto [number, is_new] = numbers.try_emplace({*cell.tasks.begin(), asked.rows()}, cells.groups.size());
      if (is_new) cells.groups.emplace_back();
      cells.of_cell[i] = number->second;
      auto& group = cells.groups[number->second];
      for (const auto* one : asked.all())
        if (std::ranges::find(group, *one) == group.end()) group.push_back(*one);
    }
    return cells;
  });
}

}  // namespace ablate::db
