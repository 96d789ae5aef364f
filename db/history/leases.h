// Who may run a trial. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <optional>
#include <string>
#include <vector>

#include "db/history/grid_store.h"
#include "db/history/prepared_statements.h"

namespace ablate::db {

/// As GridStore has them, each within the caller's transaction.
std::int64_t add_owner(SQLite::Database& database, const std::function<bool(std::int64_t slot)>& take,
                       const GridStore::Meet& meet);
void put_worker(SQLite::Database& database, std::int64_t slot, std::int64_t worker, std::int64_t started);
/// @return whether no other is left
bool remove_owner(SQLite::Database& database, std::int64_t slot);
void give_back(SQLite::Database& database, const std::string& key, std::int64_t fence);
bool put_leased(PreparedStatements& statements, const Attempt& attempt);
Leases leases(SQLite::Database& database);

/// Who asks for which trial.
struct LeaseRequest {
  const std::string& key;
  std::int64_t slot, since;
  bool again;
  const GridStore::IsOver& is_over;
};

/// Why a trial cannot be leased; nothing where it can. Reads only.
std::optional<LeaseAnswer> not_leased(SQLite::Database& database, const LeaseRequest& asked);
/// Leases it, where it can be.
LeaseAnswer take_lease(SQLite::Database& database, const LeaseRequest& asked);

/// Notes that this process lives.
void is_heard(SQLite::Database& database);

}  // namespace ablate::db
