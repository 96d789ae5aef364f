#include "db/questions/load_curves.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <limits>
#include <set>

#include "db/history/schema.h"

namespace ablate::db {

std::vector<CurvePoints> load_curves(const Reader& reader, std::int64_t metric_id, const std::vector<std::int64_t>& attempts) {
  return guarded(reader.file(), [&] {
    std::vector<CurvePoints> curves;
    SQLite::Statement ask(reader.database(), "SELECT step, value FROM curve WHERE attempt = ?1 AND metric = ?2 ORDER BY step");
    for (const auto attempt : attempts) {
      auto& curve = curves.emplace_back();
      SQLite::bind(ask, attempt, metric_id);
      while (ask.executeStep()) {
        const auto value = ask.getColumn(1);
        curve.emplace_back(ask.getColumn(0).getInt64(),
                           value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble());
      }
      ask.reset();
    }
    return curves;
  });
}

std::vector<std::string> metrics_with_curves(const Reader& reader, const std::vector<std::int64_t>& attempts) {
  return guarded(reader.file(), [&] {
    std::set<std::string> names;
    SQLite::Statement ask(
        reader.database(),
        "SELECT name FROM metric WHERE EXISTS (SELECT 1 FROM curve WHERE attempt = ?1 AND metric = metric.id)");
    for (const auto attempt : attempts) {
      ask.bind(1, attempt);
      while (ask.executeStep()) names.insert(ask.getColumn(0).getString());
      ask.reset();
    }
    return std::vector<std::string>(names.begin(), names.end());
  });
}

}  // namespace ablate::db
