// Histories of earlier schemas, for the tests of migrations.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>

#include "tests/db/fixture.h"

namespace ablate::db {

/// A file as the schema's program wrote it, with more SQL behind it.
inline void write_old(const std::filesystem::path& file, const char* dump, const std::string& more = "") {
  SQLite::Database old(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  old.exec(content(std::filesystem::path(ABLATE_SOURCE_DIR) / "tests/db" / dump));
  if (!more.empty()) old.exec(more);
}

inline std::int64_t number(const std::filesystem::path& file, const std::string& sql) {
  return SQLite::Database(file.string()).execAndGet(sql).getInt64();
}

inline nlohmann::json resolved_of(const std::filesystem::path& file, int trial) {
  return nlohmann::json::parse(SQLite::Database(file.string())
                                   .execAndGet("SELECT json FROM resolved WHERE trial = " + std::to_string(trial))
                                   .getString());
}

}  // namespace ablate::db
