#include "db/history/known_verdicts.h"

#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

void put_verdicts(SQLite::Database& database, const std::vector<KnownVerdict>& verdicts) {
  Statement put(database,
                "INSERT INTO verdict (kind, plugin, code_identity, suite, checked_s, verdict, failed_checks) VALUES (?, ?, ?, "
                "?, ?, ?, ?) ON CONFLICT DO UPDATE SET suite = excluded.suite, checked_s = excluded.checked_s, verdict = "
                "excluded.verdict, failed_checks = excluded.failed_checks "
                "WHERE (excluded.suite, excluded.checked_s) > (suite, checked_s)");
  for (const auto& [plugin, suite, checked_s] : verdicts) {
    put.bind(1, plugin.kind);
    put.bind(2, plugin.id);
    put.bind(3, plugin.code_identity);
    put.bind(4, suite);
    put.bind(5, checked_s);
    put.bind(6, plugin.verdict.verdict);
    put.bind(7, plugin.verdict.failed_checks);
    execute(put);
  }
}

std::optional<KnownVerdict> find_verdict(SQLite::Database& database, const UsedPlugin& plugin) {
  Statement ask(
      database,
      "SELECT suite, checked_s, verdict, failed_checks FROM verdict WHERE kind = ? AND plugin = ? AND code_identity = ?");
  ask.bind(1, plugin.kind);
  ask.bind(2, plugin.id);
  ask.bind(3, plugin.code_identity);
  if (!ask.executeStep()) return std::nullopt;
  KnownVerdict known{plugin, ask.getColumn(0).getInt64(), ask.getColumn(1).getInt64()};
  known.plugin.verdict = {ask.getColumn(2).getString(), ask.getColumn(3).getString()};
  return known;
}

}  // namespace ablate::db
