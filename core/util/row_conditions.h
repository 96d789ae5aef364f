// Row of a table, named by its settings: "attention=adamra attention.rates=1/2".
#pragma once

#include <string>
#include <vector>

namespace ablate {

/// Splits a row's name into "attention=adamra", "attention.rates=1/2". A blank separates two conditions only if a path and "="
/// follow, because values may contain blanks.
inline std::vector<std::string> row_conditions(const std::string& row) {
  std::vector<std::string> conditions;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < row.size(); ++at) {
    if (row[at] != ' ') continue;
    const auto next = row.find_first_not_of(' ', at);
    const auto end = row.find_first_of(" =", next);
    if (next == std::string::npos || end == std::string::npos || row[end] != '=') continue;
    if (at > begin) conditions.push_back(row.substr(begin, at - begin));
    begin = next, at = next;
  }
  if (begin < row.size()) conditions.push_back(row.substr(begin));
  return conditions;
}

}  // namespace ablate
