// Writes attempts with their values into the tables. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include "db/history/prepared_statements.h"
#include "db/history/store.h"

namespace ablate::db {

class AttemptWriter {
 public:
  explicit AttemptWriter(PreparedStatements& statements) : statements_(statements), database_(statements.database()) {}

  /// Writes within the caller's transaction, and returns the attempt's id. Throws UnknownTrial if the trial is not known.
  std::int64_t put(const Attempt& attempt);

 private:
  /// Replaces the trial's settings with the attempt's settings, unless an earlier attempt is done and `attempt` is not.
  void settle(const Attempt& attempt, std::int64_t trial);
  std::int64_t add(const Attempt& attempt, std::int64_t trial);
  std::int64_t metric(const std::string& name);
  /// Returns 0 if there are no plugins.
  std::int64_t plugin_set(const std::vector<UsedPlugin>& plugins);
  std::int64_t plugin(const UsedPlugin& plugin);

  PreparedStatements& statements_;
  SQLite::Database& database_;
};

}  // namespace ablate::db
