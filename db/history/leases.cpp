#include "db/history/leases.h"

#include <utility>

#include "core/util/processes.h"
#include "db/history/attempt_writer.h"
#include "db/history/late_attempt.h"
#include "db/history/lineage.h"
#include "db/history/past_tries.h"
#include "db/history/process.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

namespace {

constexpr std::int64_t kAliveWithin_us = 60'000'000;
constexpr const char* kNow = "CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER)";
constexpr const char* kOwnerColumns = "o.slot, o.host, o.process, o.started, o.space, o.worker, o.worker_started";

/// @param at first column of kOwnerColumns
LeaseOwner owner_at(Statement& row, int at) {
  return {row.getColumn(at).getInt64(),     row.getColumn(at + 1).getString(), row.getColumn(at + 2).getInt64(),
          row.getColumn(at + 3).getInt64(), row.getColumn(at + 4).getString(), row.getColumn(at + 5).getInt64(),
          row.getColumn(at + 6).getInt64()};
}

std::int64_t add_row(SQLite::Database& database) {
  const auto self = this_process();
  Statement add(
      database,
      std::string("INSERT INTO lease_owner (host, process, started, space, heard_us) VALUES (?, ?, ?, ?, ") + kNow + ")");
  execute(add, self.host, self.id, self.started, process_space());
  return database.getLastInsertRowid();
}

void forget_owner(SQLite::Database& database, std::int64_t slot) {
  Statement forget(database, "DELETE FROM lease_owner WHERE slot = ?");
  execute(forget, slot);
}

}  // namespace

std::int64_t add_owner(SQLite::Database& database, const std::function<bool(std::int64_t slot)>& take,
                       const GridStore::Meet& meet) {
  auto slot = add_row(database);
  while (!take(slot)) {  // a scheduler of an earlier history at this path still holds the lock
    forget_owner(database, slot);
    slot = add_row(database);
  }
  Statement others(database, std::string("SELECT ") + kOwnerColumns + ", " + kNow +
                                 " - heard_us < ?2, EXISTS (SELECT 1 FROM lease l WHERE l.slot = o.slot AND l.outcome IS NULL) "
                                 "FROM lease_owner o WHERE o.slot <> ?1");
  SQLite::bind(others, slot, kAliveWithin_us);
  std::vector<std::int64_t> over;
  while (others.executeStep()) {
    const auto other = owner_at(others, 0);
    if (meet(other, others.getColumn(7).getInt() != 0) && others.getColumn(8).getInt() == 0) over.push_back(other.slot);
  }
  for (const auto dead : over) forget_owner(database, dead);
  return slot;
}

void put_worker(SQLite::Database& database, std::int64_t slot, std::int64_t worker, std::int64_t started) {
  Statement put(database, "UPDATE lease_owner SET worker = ?2, worker_started = ?3 WHERE slot = ?1");
  execute(put, slot, worker, started);
}

bool remove_owner(SQLite::Database& database, std::int64_t slot) {
  Statement free(database, "UPDATE lease SET outcome = '' WHERE slot = ? AND outcome IS NULL");
  execute(free, slot);
  forget_owner(database, slot);
  return database.execAndGet("SELECT NOT EXISTS (SELECT 1 FROM lease_owner)").getInt() != 0;
}

void give_back(SQLite::Database& database, const std::string& key, std::int64_t fence) {
  Statement free(database, "UPDATE lease SET outcome = '' WHERE key = ? AND fence = ? AND outcome IS NULL");
  execute(free, key, fence);
}

bool put_leased(PreparedStatements& statements, const Attempt& attempt) {
  auto end = statements("UPDATE lease SET outcome = ?1 WHERE key = ?2 AND fence = ?3 AND outcome IS NULL");
  SQLite::bind(*end, lease_end(attempt), attempt.key, attempt.fence);
  if (end->exec() == 1) {
    AttemptWriter(statements).put(attempt);
    return true;
  }
  auto newest = statements("SELECT fence FROM lease WHERE key = ?");
  AttemptWriter(statements).put(late_attempt(attempt, number_from(*newest, attempt.key)));
  return false;
}

Leases leases(SQLite::Database& database) {
  Leases now;
  Statement newest(database, "SELECT seq FROM sqlite_sequence WHERE name = 'lease'");
  if (newest.executeStep()) now.newest = newest.getColumn(0).getInt64();
  Statement ask(database, std::string("SELECT l.key, l.fence, l.slot, ") + kOwnerColumns +
                              " FROM lease l LEFT JOIN lease_owner o ON o.slot = l.slot WHERE l.outcome IS NULL");
  while (ask.executeStep()) {
    now.held.push_back({ask.getColumn(0).getString(), ask.getColumn(1).getInt64(), owner_at(ask, 3)});
    now.held.back().owner.slot = ask.getColumn(2).getInt64();
  }
  return now;
}

std::optional<LeaseAnswer> not_leased(SQLite::Database& database, const LeaseRequest& request) {
  using What = LeaseAnswer::What;
  if (!request.again && !done_attempts(database, {request.key}).empty()) return LeaseAnswer{What::kDone};
  Statement ask(database, std::string("SELECT l.fence, l.slot, l.outcome, ") + kOwnerColumns +
                              " FROM lease l LEFT JOIN lease_owner o ON o.slot = l.slot WHERE l.key = ?");
  ask.bind(1, request.key);
  if (!ask.executeStep()) return std::nullopt;
  const auto fence = ask.getColumn(0).getInt64(), slot = ask.getColumn(1).getInt64();
  if (ask.getColumn(2).isNull()) {
    auto owner = owner_at(ask, 3);
    owner.slot = slot;
    return request.is_over(owner) ? std::nullopt : std::optional(LeaseAnswer{What::kElsewhere});
  }
  const bool has_failed = slot != request.slot && fence > request.since && !is_free_for_others(ask.getColumn(2).getString());
  return has_failed && !request.again ? std::optional(LeaseAnswer{What::kFailed}) : std::nullopt;
}

/// Returns the trial's past attempts if another owner has had the trial since fence `since`; else none.
PastTries tries_elsewhere(SQLite::Database& database, const LeaseRequest& request) {
  Statement others(database, "SELECT 1 FROM lease WHERE key = ? AND slot <> ? AND fence > ?");
  SQLite::bind(others, request.key, request.slot, request.since);
  if (request.again || !others.executeStep()) return {};
  auto past = past_tries(database, {request.key});
  return std::move(past[request.key]);
}

LeaseAnswer take_lease(SQLite::Database& database, const LeaseRequest& request) {
  if (const auto none = not_leased(database, request)) return *none;
  auto past = tries_elsewhere(database, request);
  Statement take(database, "INSERT OR REPLACE INTO lease (key, slot) VALUES (?, ?)");
  execute(take, request.key, request.slot);
  return {LeaseAnswer::What::kMine, database.getLastInsertRowid(), std::move(past)};
}

void mark_alive(SQLite::Database& database) {
  const auto self = this_process();
  Statement put(database,
                std::string("UPDATE lease_owner SET heard_us = ") + kNow + " WHERE host = ? AND process = ? AND started = ?");
  execute(put, self.host, self.id, self.started);
}

}  // namespace ablate::db
