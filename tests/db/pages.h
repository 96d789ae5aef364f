// Pages about results: their tables, and the raw cells that these tables show.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "tests/db/imports.h"

namespace ablate::db {

/// Returns the fields of a line of a Markdown table, without blanks around them.
inline std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line.substr(1));
  for (std::string field; std::getline(in, field, '|');) {
    const auto begin = field.find_first_not_of(' ');
    fields.push_back(begin == std::string::npos ? "" : field.substr(begin, field.find_last_not_of(' ') + 1 - begin));
  }
  return fields;
}

/// Imports raw cells, and requires that this succeeds.
/// @param file path from the root of the source tree, such as "experiments/results/X.csv"
inline void import_cells(Imports& run, const std::string& file) {
  run("import " + std::string(ABLATE_SOURCE_DIR) + "/" + file);
  REQUIRE(run.exit_code == 0);
}

}  // namespace ablate::db
