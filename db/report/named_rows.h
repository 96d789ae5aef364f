// An answer that is no table: names, and rows of fields, for any RowPrinter. No SQLite.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ablate::db {

struct NamedRows {
  std::vector<std::string> names;
  std::vector<std::vector<nlohmann::json>> rows;  ///< as long as names; null: not known
};

/// null for what is no number.
inline nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace ablate::db
