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
    put.bind(1, plugin.kind);
    put.bind(2, plugin.id);
    put.bind(3, plugin.code_identity);
    put.bind(4, suite);
    put.bind(5, checked_s);
    put.bind(6, plugin.verdict.verdict);
    put.bind(7, plugin.verdict.failed_checks);
    execute(put);
    for (const auto& [place, length] : plugin.verdict.lengths) {
      reach.bind(1, plugin.kind);
      reach.bind(2, plugin.id);
      reach.bind(3, plugin.code_identity);
      reach.bind(4, place);
      reach.bind(5, suite);
      reach.bind(6, length);
      execute(reach);
    }
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
  Statement reach(database,
                  "SELECT place, length FROM checked_length WHERE (kind, plugin, code_identity, suite) = (?, ?, ?, ?)");
  reach.bind(1, plugin.kind);
  reach.bind(2, plugin.id);
  reach.bind(3, plugin.code_identity);
  reach.bind(4, known.suite);
  while (reach.executeStep()) known.plugin.verdict.lengths[reach.getColumn(0).getString()] = reach.getColumn(1).getInt64();
  return known;
}

}  // namespace ablate::db
