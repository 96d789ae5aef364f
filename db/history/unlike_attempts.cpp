#include "db/history/unlike_attempts.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <tuple>

#include "core/records/environment_parts.h"
#include "core/util/sha256.h"
#include "db/history/prepared_statements.h"
#include "db/history/sql.h"
#include "db/history/stored_json.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// Returns the parts of an environment that may change numbers, as text; "" if numbers from the environment cannot be compared.
std::string place_of(const std::string& text) {
  const auto environment = stored_json(text);
  if (!environment.is_object() || environment.contains("imported")) return "";
  if (const auto at = environment.find("resumed");
      at != environment.end() && (!at->is_object() || at->contains("processor") || at->contains("environments")))
    return "";
  const auto place = number_parts(environment);
  return place.empty() ? "" : place.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string number_of(const Statement& row, int column) {
  return row.isColumnNull(column) ? "nan" : fmt::format("{}", row.getColumn(column).getDouble());
}

/// @param numbers query for the first number that differs between two attempts: its name and both values
/// @return "test/accuracy 61.5 and 60"; "" if all numbers are equal
std::string difference(Statement& numbers, std::int64_t latest, std::int64_t earlier) {
  if (!renew(numbers, latest, earlier).executeStep()) return "";
  return fmt::format("{} {} and {}", numbers.getColumn(0).getString(), number_of(numbers, 1), number_of(numbers, 2));
}

}  // namespace

std::vector<UnlikeAttempts> unlike_attempts(SQLite::Database& database, const std::string& trials, bool with_curves) {
  Statement ask(database,
                fmt::format("SELECT t.id, t.key, a.id, a.environment, e.json FROM trial t CROSS JOIN attempt a ON a.trial "
                            "= t.id AND a.outcome = 'done' JOIN environment e ON e.id = a.environment WHERE t.id IN "
                            "(SELECT trial FROM attempt WHERE outcome = 'done' AND trial {} GROUP BY trial HAVING "
                            "count(*) > 1) ORDER BY t.id, {}",
                            trials, kLatestFirst));
  Statement results(database,
                    fmt::format("SELECT m.name, x.value, y.value FROM metric m CROSS JOIN result x ON x.metric = m.id AND "
                                "x.attempt = ?1 CROSS JOIN result y ON y.metric = m.id AND y.attempt = ?2 WHERE x.value "
                                "IS NOT y.value AND {} ORDER BY m.name LIMIT 1",
                                kComparable));
  Statement curves(database,
                   fmt::format("SELECT m.name || ' at step ' || x.step, x.value, y.value FROM curve x CROSS JOIN curve y "
                               "ON (y.attempt, y.metric, y.step) = (?2, x.metric, x.step) JOIN metric m ON m.id = "
                               "x.metric WHERE x.attempt = ?1 AND x.value IS NOT y.value AND {} ORDER BY x.step LIMIT 1",
                               kComparable));
  std::map<std::int64_t, std::string> places;     // by environment
  std::map<std::string, std::int64_t> latest_in;  // the trial's latest attempt, by place
  std::int64_t trial = 0;
  std::vector<UnlikeAttempts> all;
  while (ask.executeStep()) {
    if (trial != ask.getColumn(0).getInt64()) latest_in.clear();
    trial = ask.getColumn(0).getInt64();
    const auto attempt = ask.getColumn(2).getInt64();
    const auto [place, is_new] = places.try_emplace(ask.getColumn(3).getInt64());
    if (is_new) place->second = place_of(ask.getColumn(4).getString());
    if (place->second.empty()) continue;
    const auto [latest, is_latest] = latest_in.try_emplace(place->second, attempt);
    if (is_latest) continue;
    auto what = difference(results, latest->second, attempt);
    if (what.empty() && with_curves) what = difference(curves, latest->second, attempt);
    if (what.empty()) continue;
    all.push_back({trial, attempt, latest->second,
                   fmt::format("attempts {} and {} at trial {} have different numbers in the same environment: {}",
                               latest->second, attempt, short_digest(ask.getColumn(1).getString()), what)});
  }
  return all;
}

OtherNumbers other_numbers(SQLite::Database& database) {
  // Visits each of the other file's numbers once, in the order of its table.
  constexpr const char* kAsk =
      "SELECT k.id, m.name{1}, x.value, o.value FROM other.{0} o CROSS JOIN temp.known k ON k.old = o.attempt CROSS JOIN "
      "temp.metric_of i ON i.old = o.metric CROSS JOIN main.metric m ON m.id = i.id AND {3} CROSS JOIN main.{0} x ON "
      "x.attempt = k.id AND x.metric = i.id{2} WHERE x.value IS NOT o.value";
  OtherNumbers found;
  std::set<std::int64_t> attempts;
  for (const auto& [table, name, place] :
       {std::tuple("result", "", ""), {"curve", " || ' at step ' || o.step", " AND x.step = o.step"}}) {
    Statement ask(database, fmt::format(kAsk, table, name, place, kComparable));
    for (; ask.executeStep(); attempts.insert(ask.getColumn(0).getInt64())) {
      if (!attempts.empty()) continue;
      Statement key(database, "SELECT t.key FROM main.trial t JOIN main.attempt a ON a.trial = t.id WHERE a.id = ?");
      renew(key, ask.getColumn(0).getInt64()).executeStep();
      found.first = fmt::format("trial {}: {} {} here and {} there", short_digest(key.getColumn(0).getString()),
                                ask.getColumn(1).getString(), number_of(ask, 2), number_of(ask, 3));
    }
  }
  found.attempts = static_cast<std::int64_t>(attempts.size());
  return found;
}

}  // namespace ablate::db
