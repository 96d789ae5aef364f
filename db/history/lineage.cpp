#include "db/history/lineage.h"

#include <fmt/format.h>

#include <limits>

#include "core/records/outcome.h"
#include "core/util/sha256.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/history/stored_metric.h"
#include "db/history/trial_writer.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

constexpr const char* kPast =
    "SELECT t.id, a.id, k.settings, b.json, r.json, max(a.turn) FROM key_part k JOIN trial t ON t.id = k.trial "
    "JOIN basis b ON b.id = k.basis JOIN resolved r ON r.trial = t.id JOIN attempt a ON a.trial = t.id AND a.outcome = 'done' ";

/// True if the parts have the form that this program writes. Another program may have written the file.
bool is_whole(const Identity& parts) {
  const auto &settings = parts.settings, &basis = parts.basis;
  const auto is = [](const json& object, const std::string& name, auto type) {
    const auto found = object.find(name);
    return found != object.end() && type(*found);
  };
  const auto is_text = [](const json& value) { return value.is_string(); };
  const auto is_number = [](const json& value) { return value.is_number_integer(); };
  if (!settings.is_object() || !basis.is_object() || !is(basis, "plugins", [](const json& one) { return one.is_object(); }) ||
      !is(basis, "runtime", is_number) || (basis.contains("kernels") && !is(basis, "kernels", is_number)) ||
      !is(basis, "data", is_text) || !is(basis, "torch", is_text))
    return false;
  for (const auto& [path, code] : basis.at("plugins").items())
    if (!code.is_string() || !is(settings, path + ".plugin", is_text)) return false;
  return true;
}

std::vector<PastTrial> read(Statement& ask, const Reader& reader) {
  std::vector<PastTrial> found;
  while (ask.executeStep()) {
    PastTrial past{ask.getColumn(0).getInt64(),
                   ask.getColumn(1).getInt64(),
                   {stored_json(ask.getColumn(2).getString()), stored_json(ask.getColumn(3).getString())}};
    const auto resolved = stored_json(ask.getColumn(4).getString());
    if (!is_whole(past.parts)) {
      reader.leave_out("attempt", past.attempt, "the key's parts");
    } else if (!resolved.is_object()) {
      reader.leave_out("attempt", past.attempt, "its settings");
    } else {
      past.parts.values = all_values(resolved, past.parts.settings);
      found.push_back(std::move(past));
    }
  }
  return found;
}

}  // namespace

std::int64_t hash_of_settings(const std::string& settings) { return configuration_of(settings); }

std::int64_t put_text(SQLite::Database& database, const char* table, const std::string& text) {
  Statement put(
      database,
      fmt::format("INSERT INTO {} (hash, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET hash = hash RETURNING id", table));
  SQLite::bind(put, sha256(text), text);
  put.executeStep();
  const auto id = put.getColumn(0).getInt64();
  while (put.executeStep()) {
  }
  return id;
}

void put_parts(SQLite::Database& database, const std::vector<std::pair<std::string, Identity>>& parts) {
  Statement put(
      database,
      "INSERT INTO key_part (trial, basis, settings_hash, settings) SELECT id, ?, ?, ? FROM trial WHERE key = ? ON CONFLICT DO "
      "NOTHING");
  Statement known(database, "SELECT 1 FROM trial t LEFT JOIN key_part k ON k.trial = t.id WHERE t.key = ? AND k.trial IS NULL");
  std::map<std::string, std::int64_t> bases;
  for (const auto& [key, made] : parts) {
    known.bind(1, key);
    const bool is_new = known.executeStep();
    known.reset();
    if (!is_new) continue;
    const auto basis = json_text(made.basis), settings = json_text(made.settings);
    const auto [at, fresh] = bases.try_emplace(basis, 0);
    if (fresh) at->second = put_text(database, "basis", basis);
    execute(put, at->second, hash_of_settings(settings), settings, key);
  }
}

std::map<std::string, std::int64_t> done_attempts(SQLite::Database& database, const std::vector<std::string>& keys) {
  Statement ask(
      database,
      "SELECT id, max(turn) FROM attempt WHERE outcome = 'done' AND trial IN (SELECT id FROM trial WHERE key = ?1 UNION ALL "
      "SELECT trial FROM alias WHERE key = ?1)");
  std::map<std::string, std::int64_t> found;
  for (const auto& key : keys)
    if (const auto attempt = number_from(ask, key); attempt != 0) found[key] = attempt;
  return found;
}

std::map<std::string, std::int64_t> done_attempts(const Reader& reader, const std::vector<std::string>& keys) {
  return guarded(reader.file(), [&] { return done_attempts(reader.database(), keys); });
}

std::unordered_map<std::string, std::string> last_failures(const Reader& reader, const std::vector<std::string>& keys) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(),
                  "SELECT a.id, a.outcome, a.reason, max(a.turn) FROM attempt a JOIN trial t ON t.id = a.trial WHERE a.outcome "
                  "<> 'done' AND t.key = ? GROUP BY a.trial");
    std::unordered_map<std::string, std::string> found;
    for (const auto& key : keys) {
      if (!renew(ask, key).executeStep()) continue;
      const auto name = ask.getColumn(1).getString();
      const auto* const outcome = find_outcome(name);
      found[key] = fmt::format("attempt {} {}: {}", ask.getColumn(0).getInt64(),
                               outcome != nullptr ? outcome->told : "was " + name, ask.getColumn(2).getString());
    }
    return found;
  });
}

std::unordered_map<std::int64_t, DoneWith> latest_done_with(const Reader& reader, const std::vector<std::int64_t>& hashes) {
  return guarded(reader.file(), [&] {
    Statement ask(
        reader.database(),
        "SELECT a.id, k.basis, coalesce(t.setting, 0) FROM key_part k JOIN attempt a ON a.trial = k.trial JOIN trial t "
        "ON t.id = k.trial WHERE k.settings_hash = ? AND a.outcome = 'done' ORDER BY a.turn DESC, a.trial LIMIT 1");
    std::unordered_map<std::int64_t, DoneWith> found;
    for (const auto hash : hashes)
      if (renew(ask, hash).executeStep())
        found[hash] = {ask.getColumn(0).getInt64(), ask.getColumn(1).getInt64(), ask.getColumn(2).getInt64()};
    return found;
  });
}

std::vector<PastTrial> done_with(const Reader& reader, const json& settings) {
  return guarded(reader.file(), [&] {
    const auto text = json_text(settings);
    Statement ask(reader.database(),
                  std::string(kPast) + "WHERE k.settings_hash = ? AND k.settings = ? GROUP BY t.id ORDER BY 6 DESC");
    SQLite::bind(ask, hash_of_settings(text), text);
    return read(ask, reader);
  });
}

std::vector<PastTrial> done_of(const Reader& reader, const std::string& experiment, int most) {
  return guarded(reader.file(), [&] {
    // Selects the trials before their texts are read: a sort of rows with texts would load all texts of a large grid at once.
    Statement ask(reader.database(),
                  std::string(kPast) +
                      "WHERE t.id IN (SELECT d.trial FROM experiment e JOIN experiment_trial m ON m.experiment = e.id JOIN "
                      "key_part p ON p.trial = m.trial JOIN attempt d ON d.trial = m.trial AND d.outcome = 'done' WHERE "
                      "e.name = ? GROUP BY d.trial ORDER BY max(d.turn) DESC LIMIT ?) GROUP BY t.id ORDER BY 6 DESC");
    SQLite::bind(ask, experiment, most);
    return read(ask, reader);
  });
}

std::vector<PastTrial> all_done(const Reader& reader) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(), std::string(kPast) + "GROUP BY t.id ORDER BY 6 DESC");
    return read(ask, reader);
  });
}

json environment_of(const Reader& reader, std::int64_t attempt) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(), "SELECT e.json FROM attempt a JOIN environment e ON e.id = a.environment WHERE a.id = ?");
    ask.bind(1, attempt);
    if (!ask.executeStep()) return json::object();
    auto found = stored_json(ask.getColumn(0).getString());
    if (found.is_object()) return found;
    reader.leave_out("attempt", attempt, "its environment");
    return json::object();
  });
}

std::vector<Result> results_of(const Reader& reader, std::int64_t attempt) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(), fmt::format("SELECT {}, r.value FROM result r JOIN metric m ON m.id = r.metric "
                                                 "WHERE r.attempt = ? ORDER BY m.name",
                                                 kMetricColumns));
    ask.bind(1, attempt);
    std::vector<Result> found;
    while (ask.executeStep()) {
      const auto value = ask.getColumn(7);
      found.push_back({metric_from(ask), value.isNull() ? std::numeric_limits<double>::quiet_NaN() : value.getDouble()});
    }
    return found;
  });
}

}  // namespace ablate::db
