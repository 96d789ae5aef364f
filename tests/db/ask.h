// Returns the answer to an SQL query as text.
#pragma once

#include <filesystem>
#include <string>

#include "db/questions/exports/query.h"

namespace ablate::db {

inline std::string ask(const std::filesystem::path& file, const std::string& sql, Format format = Format::kCsv) {
  std::string out;
  run_query(file, sql, format, [&](std::string_view part) { out += part; });
  return out;
}

}  // namespace ablate::db
