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
  Statement reach(database,
                  "INSERT INTO checked_length (kind, plugin, code_identity, place, suite, length) VALUES (?, ?, ?, ?, ?, ?) ON "
                  "CONFLICT DO UPDATE SET suite = excluded.suite, length = excluded.length WHERE (excluded.suite, "
                  "excluded.length) > (suite, length)");
  for (const auto& [plugin, suite, checked_s] : verdicts) {
    execute(put, plugin.kind, plugin.id, plugin.code_identity, suite, checked_s, plugin.verdict.verdict,
            plugin.verdict.failed_checks);
    for (const auto& [place, length] : plugin.verdict.lengths)
      execute(reach, plugin.kind, plugin.id, plugin.code_identity, place, suite, length);
  }
}

std::optional<KnownVerdict> find_verdict(SQLite::Database& database, const UsedPlugin& plugin) {
  Statement ask(
      database,
      "SELECT suite, checked_s, verdict, failed_checks FROM verdict WHERE kind = ? AND plugin = ? AND code_identity = ?");
  SQLite::bind(ask, plugin.kind, plugin.id, plugin.code_identity);
  if (!ask.executeStep()) return std::nullopt;
  KnownVerdict known{plugin, ask.getColumn(0).getInt64(), ask.getColumn(1).getInt64()};
  known.plugin.verdict = {ask.getColumn(2).getString(), ask.getColumn(3).getString()};
  Statement reach(database,
                  "SELECT place, length FROM checked_length WHERE (kind, plugin, code_identity, suite) = (?, ?, ?, ?)");
  SQLite::bind(reach, plugin.kind, plugin.id, plugin.code_identity, known.suite);
  while (reach.executeStep()) known.plugin.verdict.lengths[reach.getColumn(0).getString()] = reach.getColumn(1).getInt64();
  return known;
}

}  // namespace ablate::db
