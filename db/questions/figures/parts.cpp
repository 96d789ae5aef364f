#include "db/questions/figures/parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "db/report/format.h"
#include "db/report/layout.h"

namespace ablate::db {
namespace {

/// Returns "rates" for "attention.rates". A text with a blank is a name from --rename, and is returned unchanged.
std::string last_name(const std::string& path) {
  return path.find(' ') == std::string::npos ? path.substr(path.rfind('.') + 1) : path;
}

std::string value_text(const std::string& path, const std::string& label, const nlohmann::ordered_json& value) {
  const bool tells_itself = value.is_string() && label.find_first_of("0123456789") != 0;
  return tells_itself ? label : last_name(path) + " " + label;
}

std::string label_text(const std::vector<std::string>& paths, const std::vector<std::string>& labels,
                       const std::vector<nlohmann::ordered_json>& values) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (values[i].is_null() && labels[i] == kAbsent) continue;
    parts.push_back(paths.size() == 1 ? labels[i] : value_text(paths[i], labels[i], values[i]));
  }
  return one_row(fmt::format("{}", fmt::join(parts, ", ")));
}

}  // namespace

Table bare_table(const Reader& reader, TableRequest request) {
  request.statistics.clear();
  return make_table(reader, request);
}

ShownNames names_of(const Reader& reader, TableRequest request) {
  std::erase_if(request.statistics, [](const auto& option) { return option.first != "rename"; });
  return request.statistics.empty() ? ShownNames() : make_table(reader, request).names;
}

std::string shown_as(const std::string& name, const ShownNames& names) {
  const auto at = names.find(name);
  return at == names.end() ? name : at->second;
}

std::string row_name(const Table& table, std::size_t row) {
  auto name = label_text(table.row_paths, table.rows[row], table.row_values[row]);
  return name.empty() ? "all trials" : name;
}

std::string value_name(const Table& table, std::size_t row, std::size_t path) {
  return one_row(value_text(table.row_paths[path], table.rows[row][path], table.row_values[row][path]));
}

std::string column_title(const Table& table, std::size_t column) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < table.column_paths.size(); ++i)
    parts.push_back(one_row(last_name(table.column_paths[i]) + " " + table.columns[column][i]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string width_text(const Table& table) {
  return table.overlap ? "95 % interval of the mean (Student's t)" : "standard deviation over seeds";
}

void note_failures(const Table& table, Figure& figure) {
  std::vector<std::string> failed;
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t c = 0; c < table.columns.size(); ++c)
      if (const auto text = failure_text(table.cell(r, 0, c)); !text.empty())
        failed.push_back(
            fmt::format("{}{}: {}", row_name(table, r), table.columns.size() > 1 ? " at " + column_title(table, c) : "", text));
  if (!failed.empty()) figure.notes.push_back("trials that are not done are left out: " + some_of(failed));
}

std::vector<std::string> cell_notes(const Table& table, std::size_t metric) {
  std::vector<std::string> without, single;
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      const auto& cell = table.cell(r, metric, c);
      if (cell.trials == 0) continue;  // the grid has no such trial
      auto name = row_name(table, r);
      if (table.columns.size() > 1) name += " at " + column_title(table, c);
      if (cell.n == 0 || !std::isfinite(cell.mean))
        without.push_back(name);
      else if (!std::isfinite(cell.half_width()))
        single.push_back(name);
    }
  std::vector<std::string> notes;
  if (!without.empty()) notes.push_back(fmt::format("no value of {}: {}", table.metrics[metric].name, some_of(without)));
  if (!single.empty()) notes.push_back("no bar, since no deviation is known: " + some_of(single));
  return notes;
}

}  // namespace ablate::db
