#include "db/questions/find_attempt.h"

#include <fmt/format.h>

#include "core/util/error.h"
#include "core/util/sha256.h"
#include "db/history/schema.h"
#include "db/history/sql.h"

namespace ablate::db {

using SQLite::Statement;

FoundAttempt find_attempt(const Reader& reader, const std::string& name) {
  auto& database = reader.database();
  const bool digits = !name.empty() && name.size() < 18 && name.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    Statement by_number(database, "SELECT trial FROM attempt WHERE id = ?");
    by_number.bind(1, static_cast<std::int64_t>(std::stoll(name)));
    if (by_number.executeStep()) return {std::stoll(name), by_number.getColumn(0).getInt64(), false};
  }
  const bool hex = name.size() >= 4 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
  Statement by_key(database, "SELECT id, key FROM trial WHERE key >= ? AND key < ? ORDER BY key LIMIT 2");
  if (hex) {
    SQLite::bind(by_key, name, name + "g");  // behind all hex digits
    if (by_key.executeStep()) {
      const auto trial = by_key.getColumn(0).getInt64();
      const auto key = by_key.getColumn(1).getString();
      if (by_key.executeStep())
        throw Error(fmt::format("several trials' keys begin with {}: {}, {}, ...; give more digits", name, short_digest(key),
                                short_digest(by_key.getColumn(1).getString())));
      Statement latest(
          database,
          fmt::format("SELECT id FROM attempt WHERE trial = ? ORDER BY outcome = 'done' DESC, {} LIMIT 1", kLatestFirst));
      latest.bind(1, trial);
      if (!latest.executeStep()) throw Error(fmt::format("trial {} has not run yet", short_digest(key)));
      return {latest.getColumn(0).getInt64(), trial, true};
    }
  }
  Statement last(database, "SELECT max(id) FROM attempt");
  last.executeStep();
  const auto highest = last.getColumn(0);
  throw Error(fmt::format(
      "{} has no attempt {}: expected {} or at least 4 hex digits of a trial's key. `ablate attempts` lists the latest.",
      reader.file().string(), name,
      highest.isNull() ? "an attempt's number (there are none yet)" : fmt::format("a number up to {}", highest.getInt64())));
}

}  // namespace ablate::db
