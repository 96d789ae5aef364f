#include "db/history/members.h"

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

void put_members(SQLite::Database& database, std::int64_t experiment, const std::vector<ListedTrial>& latest) {
  struct Membership {
    std::int64_t position;
    bool listed;
    std::optional<std::int64_t> cell;
    std::string role;
    bool operator==(const Membership&) const = default;
  };
  std::unordered_map<std::int64_t, Membership> before;
  std::vector<std::int64_t> order;
  Statement members(database,
                    "SELECT trial, position, listed, cell, role FROM experiment_trial WHERE experiment = ? ORDER BY position");
  members.bind(1, experiment);
  while (members.executeStep()) {
    order.push_back(members.getColumn(0).getInt64());
    const auto cell = members.getColumn(3);
    before[order.back()] = {members.getColumn(1).getInt64(), members.getColumn(2).getInt() != 0,
                            cell.isNull() ? std::nullopt : std::optional(cell.getInt64()), members.getColumn(4).getString()};
  }
  Statement put(database,
                "INSERT INTO experiment_trial (experiment, trial, position, listed, role, cell) VALUES (?, ?, ?, ?, ?, ?) ON "
                "CONFLICT DO UPDATE SET position = excluded.position, listed = excluded.listed, role = excluded.role, cell = "
                "excluded.cell");
  std::int64_t position = 0;
  std::unordered_set<std::int64_t> seen;
  const auto place = [&](std::int64_t trial, bool is_listed, std::optional<std::int64_t> cell, const std::string& role) {
    if (!seen.insert(trial).second) return;
    const Membership now{position++, is_listed, cell, role};
    if (const auto at = before.find(trial); at != before.end() && at->second == now) return;
    SQLite::bind(put, experiment, trial, now.position, is_listed ? 1 : 0, role);
    if (cell)
      put.bind(6, *cell);
    else
      put.bind(6);
    execute(put);
  };
  for (const auto& [trial, cell, role] : latest) place(trial, true, cell, std::string(to_text(role)));
  for (const auto trial : order) place(trial, false, std::nullopt, before.at(trial).role);
}

}  // namespace ablate::db
