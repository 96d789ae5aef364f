// An answer that is not a table: names, and rows of fields, for any RowPrinter. No SQLite.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace ablate::db {

struct NamedRows {
  std::vector<std::string> names;
  std::vector<std::vector<nlohmann::json>> rows;  ///< a field for each name; null: unknown
};

/// Returns a number as JSON: "inf" and "-inf" as texts, null for NaN.
template <class Json = nlohmann::json>
Json json_number(double value) {
  if (std::isnan(value)) return nullptr;
  return std::isinf(value) ? Json(value > 0 ? "inf" : "-inf") : Json(value);
}

/// Returns a finite number, or null for any other.
inline nlohmann::json number_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace ablate::db
