#include "db/history/past_tries.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <unordered_set>

#include "db/history/lineage.h"
#include "db/history/reader.h"
#include "db/history/schema.h"

namespace ablate::db {

/// Scans all attempts that are not done, because such attempts are few compared with a grid's keys.
std::map<std::string, PastTries> past_tries(SQLite::Database& database, const std::vector<std::string>& keys) {
  const std::unordered_set<std::string> wanted(keys.begin(), keys.end());
  std::map<std::string, PastTries> found;
  SQLite::Statement ask(database,
                        "SELECT t.key, a.outcome, a.peak_resident_bytes FROM attempt a JOIN trial t ON t.id = a.trial WHERE "
                        "a.outcome <> 'done' AND NOT EXISTS (SELECT 1 FROM attempt d WHERE d.trial = a.trial AND d.outcome = "
                        "'done') ORDER BY a.trial, a.turn, a.id");
  while (ask.executeStep()) {
    const auto key = ask.getColumn(0).getString();
    if (!wanted.contains(key)) continue;
    auto& one = found[key];
    one.outcomes.push_back(ask.getColumn(1).getString());
    one.peak_bytes = std::max<std::int64_t>(one.peak_bytes, ask.getColumn(2).getInt64());
  }
  std::vector<std::string> maybe;  // keys that a proof may have made done
  for (const auto& [key, one] : found) maybe.push_back(key);
  for (const auto& [key, attempt] : done_attempts(database, maybe)) found.erase(key);
  return found;
}

std::map<std::string, PastTries> past_tries(const Reader& reader, const std::vector<std::string>& keys) {
  return guarded(reader.file(), [&] { return past_tries(reader.database(), keys); });
}

}  // namespace ablate::db
