// The tables of a report: laid out as `ablate table` prints them, each number with the trials that it is made of.
#include <algorithm>
#include <cmath>

#include "core/util/error.h"
#include "db/questions/report_parts.h"
#include "db/report/layout.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;

/// The place of each of an experiment's trials, by the history's number.
using Places = std::unordered_map<std::int64_t, std::size_t>;

ordered_json cell_of(const Table& table, const Cell& cell, const Places& places) {
  auto trials = ordered_json::array();
  for (const auto id : cell.trial_ids)
    if (const auto at = places.find(id); at != places.end()) trials.push_back(at->second);
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
  const auto& name = asked.request.experiments.front();
  const auto of = static_cast<std::size_t>(std::find(experiments.begin(), experiments.end(), name) - experiments.begin());
  ordered_json one = {{"experiment", of}, {"name", asked.name}};
  try {
    const auto table = make_table(reader, asked.request);
    Places places;
    for (std::size_t t = 0; t < trials.all.size(); ++t)
      if (trials.experiment[t] == of) places.emplace(trials.all[t].id, t);
    const auto layout = lay_out(table);
    one["caption"] = layout.caption;
    one["notes"] = layout.notes;
    one["blocks"] = ordered_json::array();
    for (const auto& block : layout.blocks) one["blocks"].push_back(block_of(block));
    one["cells"] = ordered_json::array();
    for (const auto& cell : table.cells) one["cells"].push_back(cell_of(table, cell, places));
  } catch (const Error& error) {  // a study may name a table whose rows its trials do not have yet; the rest is still a report
    one["failed"] = error.what();
  }
  return one;
}

}  // namespace ablate::db
