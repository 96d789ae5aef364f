#include <fmt/format.h>

#include <algorithm>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "db/report/statistics.h"

namespace ablate::db {
namespace {

/// Returns every name that a table shows.
std::vector<std::string> shown_names(const Table& table) {
  std::vector<std::string> all;
  for (const auto* paths : {&table.row_paths, &table.column_paths, &table.tuned_paths})
    all.insert(all.end(), paths->begin(), paths->end());
  for (const auto* lines : {&table.rows, &table.columns})
    for (const auto& line : *lines) all.insert(all.end(), line.begin(), line.end());
  for (const auto& metric : table.metrics) all.push_back(metric.name);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::string refuse_name(const std::string& value) {
  const auto at = value.find('=');
  if (at != std::string::npos && at > 0) return "";
  return fmt::format("found {}, expected NAME=TEXT, for example 'segment-mean=Seg. mean'", value);
}

/// Splits each value at the first "=" after a name of the table, because names may contain "=".
void add_names(const std::vector<std::string>& values, Table& table) {
  const auto known = shown_names(table);
  for (const auto& value : values) {
    if (const auto why = refuse_name(value); !why.empty()) throw Error("--rename: " + why);
    auto at = value.find('=');
    const auto first = at;
    const auto is_known = [&] { return std::binary_search(known.begin(), known.end(), value.substr(0, at)); };
    while (at != std::string::npos && !is_known()) at = value.find('=', at + 1);
    if (at == std::string::npos) {
      const auto name = value.substr(0, first);
      throw Error(fmt::format("--rename {}: the table shows no {}{}", value, name, hint(name, known)));
    }
    const auto [name, is_new] = table.names.try_emplace(value.substr(0, at), value.substr(at + 1));
    if (!is_new) throw Error(fmt::format("--rename {}: {} has another text already, {}", value, name->first, name->second));
  }
}

}  // namespace

const Statistic statistics::rename{
    "rename", "NAME=TEXT",
    true,     "shown text for a label, a parameter or a metric, 'segment-mean=Seg. mean'; CSV and JSON keep the name",
    "",       refuse_name,
    add_names};

}  // namespace ablate::db
