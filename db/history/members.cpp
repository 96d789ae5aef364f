#include "db/history/members.h"

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
    bool operator==(const Membership&) const = default;
  };
  std::unordered_map<std::int64_t, Membership> before;
  std::vector<std::int64_t> order;
  Statement members(database,
                    "SELECT trial, position, listed, cell FROM experiment_trial WHERE experiment = ? ORDER BY position");
  members.bind(1, experiment);
  while (members.executeStep()) {
    order.push_back(members.getColumn(0).getInt64());
    const auto cell = members.getColumn(3);
    before[order.back()] = {members.getColumn(1).getInt64(), members.getColumn(2).getInt() != 0,
                            cell.isNull() ? std::nullopt : std::optional(cell.getInt64())};
  }
  Statement put(database,
                "INSERT INTO experiment_trial (experiment, trial, position, listed, cell) VALUES (?, ?, ?, ?, ?) ON CONFLICT "
                "DO UPDATE SET position = excluded.position, listed = excluded.listed, cell = excluded.cell");
  std::int64_t position = 0;
  std::unordered_set<std::int64_t> seen;
  const auto place = [&](std::int64_t trial, bool is_listed, std::optional<std::int64_t> cell) {
    if (!seen.insert(trial).second) return;
    const Membership now{position++, is_listed, cell};
    if (const auto at = before.find(trial); at != before.end() && at->second == now) return;
    SQLite::bind(put, experiment, trial, now.position, is_listed ? 1 : 0);
    if (cell)
      put.bind(5, *cell);
    else
      put.bind(5);
    execute(put);
  };
  for (const auto& [trial, cell] : latest) place(trial, true, cell);
  for (const auto trial : order) place(trial, false, std::nullopt);
}

}  // namespace ablate::db
