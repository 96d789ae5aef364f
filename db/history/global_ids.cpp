#include "db/history/global_ids.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "core/util/sha256.h"
#include "db/history/trial_writer.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// A row's first columns as one text in which none can pass for its neighbour; numbers by their bits.
std::string content_of(Statement& row, int columns) {
  std::string text;
  for (int i = 0; i < columns; ++i) {
    const auto column = row.getColumn(i);
    if (column.isNull())
      text += "-;";
    else if (column.isInteger())
      text += fmt::format("i{};", column.getInt64());
    else if (column.isFloat())
      text += fmt::format("f{:x};", std::bit_cast<std::uint64_t>(column.getDouble()));
    else
      text += fmt::format("{}:{};", column.getString().size(), column.getString());
  }
  return text;
}

std::string half(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < 32; i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

}  // namespace

void give_global_ids(SQLite::Database& database) {
  Statement attempts(database,
                     "SELECT t.key, a.outcome, a.reason, a.started_us, a.wall_s, a.cpu_s, a.peak_resident_bytes, a.signal, "
                     "a.exit_code, e.hash, a.output, a.step, a.steps, a.id, a.trial FROM attempt a JOIN trial t ON t.id = "
                     "a.trial JOIN environment e ON e.id = a.environment ORDER BY a.id");
  Statement results(database,
                    "SELECT m.name, r.value FROM metric m JOIN result r ON r.metric = m.id AND r.attempt = ? ORDER BY m.name");
  Statement put(database, "UPDATE attempt SET uid = ?, turn = ? WHERE id = ?");
  std::unordered_map<std::string, int> same;                 // attempts that are alike in all that is looked at, by digest
  std::unordered_map<std::int64_t, std::int64_t> last_turn;  // by trial
  while (attempts.executeStep()) {
    const auto id = attempts.getColumn("id").getInt64(), started = attempts.getColumn("started_us").getInt64();
    const auto [turn, is_first] = last_turn.try_emplace(attempts.getColumn("trial").getInt64(), started);
    if (!is_first) turn->second = std::max(started, turn->second + 1);
    auto content = content_of(attempts, attempts.getColumnCount() - 2);  // numbers in this file tell nothing of the attempt
    results.bind(1, id);
    while (results.executeStep()) content += content_of(results, 2);
    results.reset();
    auto digest = sha256(content);
    if (const int before = same[digest]++; before > 0) digest = sha256(fmt::format("{} {}", digest, before));
    const auto uid = half(digest);
    put.bind(1, uid.data(), static_cast<int>(uid.size()));
    put.bind(2, turn->second);
    put.bind(3, id);
    execute(put);
  }
  database.exec(
      "DROP INDEX attempt_by_trial; CREATE INDEX attempt_by_trial ON attempt (trial, outcome, turn, uid); "
      "CREATE UNIQUE INDEX attempt_by_uid ON attempt (uid)");
}

}  // namespace ablate::db
