// Attempts with their values, on their way into the tables. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/history/prepared_statements.h"
#include "db/history/store.h"

namespace ablate::db {

class AttemptWriter {
 public:
  explicit AttemptWriter(PreparedStatements& statements) : statements_(statements), database_(statements.database()) {}

  /// The caller's transaction holds all of it. Throws Error where the trial is not known. @return the attempt's id
  std::int64_t put(const Attempt& attempt);

 private:
  /// The trial shows what was trained.
  void settle(const Attempt& attempt, std::int64_t trial);
  std::int64_t add(const Attempt& attempt, std::int64_t trial);
  std::int64_t metric(const std::string& name);
  /// 0: no plugins
  std::int64_t plugin_set(const std::vector<UsedPlugin>& plugins);
  std::int64_t plugin(const UsedPlugin& plugin);

  PreparedStatements& statements_;
  SQLite::Database& database_;
};

}  // namespace ablate::db
