// Row of a table, named by its settings: "attention=adamra attention.rates=1/2".
#pragma once

#include <string>
#include <vector>

#include "core/util/number_text.h"
#include "core/util/rate_text.h"

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

/// True if two texts are the same value of a setting: a rate as a fraction or as a decimal, a number as 0.001 or 1e-3.
inline bool is_same_value(const std::string& one, const std::string& other) {
  const auto rate = parse_rate(one);
  const auto number = parse_number(one);
  return one == other || (rate && rate == parse_rate(other)) || (number && number == parse_number(other));
}

}  // namespace ablate
