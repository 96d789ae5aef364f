#include "db/report/renamed.h"

namespace ablate::db {

Table renamed(Table table) {
  const auto rename = [&](std::string& name) {
    if (const auto to = table.names.find(name); to != table.names.end()) name = to->second;
  };
  for (auto* paths : {&table.row_paths, &table.column_paths, &table.tuned_paths})
    for (auto& path : *paths) rename(path);
  for (auto* lines : {&table.rows, &table.columns})
    for (auto& line : *lines)
      for (auto& label : line) rename(label);
  for (auto& contrast : table.contrasts)
    for (auto* labels : {&contrast.first, &contrast.second})
      for (auto& label : *labels) rename(label);
  for (auto& metric : table.metrics) rename(metric.name);
  table.names.clear();
  return table;
}

}  // namespace ablate::db
