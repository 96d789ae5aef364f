// Leases of trials. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>
#include <vector>

#include "db/history/grid_store.h"
#include "db/history/prepared_statements.h"

namespace ablate::db {

/// Implementations of the GridStore members, within the caller's transaction.
std::int64_t add_owner(SQLite::Database& database, const std::function<bool(std::int64_t slot)>& take,
                       const GridStore::Meet& meet);
void put_worker(SQLite::Database& database, std::int64_t slot, std::int64_t worker, std::int64_t started);
/// @return true if no other owner is left
bool remove_owner(SQLite::Database& database, std::int64_t slot);
void give_back(SQLite::Database& database, const std::string& key, std::int64_t fence);
bool put_leased(PreparedStatements& statements, const Attempt& attempt);
Leases leases(SQLite::Database& database);

/// A scheduler's request for a trial.
struct LeaseRequest {
  const std::string& key;
  std::int64_t slot, since;
  bool again;
  const GridStore::IsOver& is_over;
};

/// Returns the reason why a trial cannot be leased; nullopt if it can. Reads only.
std::optional<LeaseAnswer> not_leased(SQLite::Database& database, const LeaseRequest& request);
/// Leases the trial if possible.
LeaseAnswer take_lease(SQLite::Database& database, const LeaseRequest& request);

/// Records that this process is alive.
void mark_alive(SQLite::Database& database);

}  // namespace ablate::db
