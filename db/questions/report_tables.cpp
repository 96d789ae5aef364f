// The tables of a report: laid out as `ablate table` prints them, each number with the trials that it is made of.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/util/error.h"
#include "db/questions/report_parts.h"
#include "db/questions/table_axes.h"
#include "db/report/layout.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;

/// The place of each trial, by experiment and by the history's number.
using Places = std::map<std::pair<std::string, std::int64_t>, std::size_t>;

/// Of a row and a column: several experiments may have one trial.
std::vector<std::string> experiments_of(const Table& table, std::size_t row, std::size_t column) {
  for (const auto& [paths, labels] :
       {std::pair(&table.row_paths, &table.rows[row]), {&table.column_paths, &table.columns[column]}})
    if (const auto at = std::find(paths->begin(), paths->end(), kExperiment); at != paths->end())
      if (const auto& name = (*labels)[static_cast<std::size_t>(at - paths->begin())];
          std::find(table.experiments.begin(), table.experiments.end(), name) != table.experiments.end())
        return {name};
  return table.experiments;
}

ordered_json cell_of(const Table& table, std::size_t cell_at, const Places& places) {
  const auto& cell = table.cells[cell_at];
  const auto width = table.columns.size();
  const auto experiments = experiments_of(table, cell_at / width / table.metrics.size(), cell_at % width);
  auto trials = ordered_json::array();
  for (const auto id : cell.trial_ids)
    for (const auto& experiment : experiments)
      if (const auto at = places.find({experiment, id}); at != places.end()) {
        trials.push_back(at->second);
        break;
      }
  const double value = table.baseline.empty() ? cell.mean : cell.ratio;
  return {{"value", cell.n > 0 && std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr)},
          {"n", cell.n},
          {"trials", std::move(trials)}};
}

ordered_json field_of(const Field& field) {
  auto number = field;
  number.failures.clear();
  ordered_json one = {{"text", plain(number, {"", "", "", "", "~"})}};
  if (!field.failures.empty()) one["failures"] = field.failures;
  if (field.best) one["best"] = true;
  if (field.second) one["second"] = true;
  if (field.cell) one["cell"] = *field.cell;
  return one;
}

ordered_json block_of(const Block& block) {
  ordered_json one = {{"title", block.title}, {"header", ordered_json::array()}, {"rows", ordered_json::array()}};
  for (const auto& field : block.header)
    one["header"].push_back({{"text", field.text}, {"number", field.role == Role::kNumber}});
  for (const auto& row : block.rows) {
    auto fields = ordered_json::array();
    for (const auto& field : row) fields.push_back(field_of(field));
    one["rows"].push_back(std::move(fields));
  }
  return one;
}

}  // namespace

ordered_json report_table(const Reader& reader, const ReportTable& asked, const ReportTrials& trials,
                          const std::vector<std::string>& experiments) {
  ordered_json one = {{"experiments", ordered_json::array()}, {"name", asked.name}};
  for (const auto& name : asked.request.experiments)
    one["experiments"].push_back(std::find(experiments.begin(), experiments.end(), name) - experiments.begin());
  try {
    const auto table = make_table(reader, asked.request);
    Places places;
    for (std::size_t t = 0; t < trials.all.size(); ++t)
      places.emplace(std::pair(experiments[trials.experiment[t]], trials.all[t].id), t);
    const auto layout = lay_out(table);
    one["caption"] = layout.caption;
    one["notes"] = layout.notes;
    one["blocks"] = ordered_json::array();
    for (const auto& block : layout.blocks) one["blocks"].push_back(block_of(block));
    one["cells"] = ordered_json::array();
    for (std::size_t i = 0; i < table.cells.size(); ++i) one["cells"].push_back(cell_of(table, i, places));
  } catch (const Error& error) {  // a study may name a table whose rows its trials do not have yet; the rest is still a report
    one["failed"] = error.what();
  }
  return one;
}

}  // namespace ablate::db
