#include "db/history/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/records/setting_paths.h"
#include "core/util/sha256.h"
#include "db/history/trial_writer.h"
#include "db/types/records.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Rows that stand once each, by the digest of their content.
class SharedRows {
 public:
  SharedRows(SQLite::Database& database, const char* table)
      : database_(database), add_(database, fmt::format("INSERT INTO {} (hash) VALUES (?)", table)) {}
  /// @return its id, and whether it is new
  std::pair<std::int64_t, bool> put(const std::string& content) {
    auto hash = sha256(content);
    const auto [at, fresh] = ids_.try_emplace(std::move(hash), 0);
    if (fresh) {
      execute(add_, at->first);
      at->second = database_.getLastInsertRowid();
    }
    return {at->second, fresh};
  }

 private:
  SQLite::Database& database_;
  Statement add_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

void share_parameters(SQLite::Database& database) {
  SharedRows settings(database, "setting");
  Statement add(database, "INSERT INTO parameter (path, setting, value) VALUES (?, ?, ?)");
  Statement place(database, "UPDATE trial SET setting = ?, seed = ? WHERE id = ?");
  Statement ask(
      database,
      "SELECT p.trial, n.name, v.type, v.text, p.path, p.value FROM old_parameter p JOIN path n ON n.id = p.path JOIN "
      "value v ON v.id = p.value ORDER BY p.trial, n.name");
  std::int64_t trial = 0, seed = 0;
  std::string content;
  std::vector<std::pair<std::int64_t, std::int64_t>> values;
  const auto end = [&](std::int64_t next) {
    if (trial != 0) {
      const auto [setting, fresh] = settings.put(content);
      for (const auto& [path, value] : values) {
        if (!fresh) break;
        execute(add, path, setting, value);
      }
      place.bind(1, setting);
      if (seed != 0) place.bind(2, seed);
      place.bind(3, trial);
      execute(place);
      place.clearBindings();
    }
    trial = next, seed = 0;
    content.clear(), values.clear();
  };
  while (ask.executeStep()) {
    if (const auto of = ask.getColumn(0).getInt64(); of != trial) end(of);
    if (ask.getColumn(1).getString() == setting::kSeed) {
      seed = ask.getColumn(5).getInt64();
      continue;
    }
    for (int field = 1; field <= 3; ++field) add_field(content, ask.getColumn(field).getString());
    values.emplace_back(ask.getColumn(4).getInt64(), ask.getColumn(5).getInt64());
  }
  end(0);
  ask.reset();
  Statement without(database, "UPDATE trial SET setting = ? WHERE setting IS NULL");
  if (database.execAndGet("SELECT EXISTS (SELECT 1 FROM trial WHERE setting IS NULL)").getInt() == 0) return;
  execute(without, settings.put("").first);
}

void share_plugins(SQLite::Database& database) {
  struct Use {
    std::int64_t plugin;
    std::string verdict, failed_checks, content;
  };
  SharedRows sets(database, "plugin_set");
  Statement add(database, "INSERT INTO plugin_of_set (plugin_set, plugin, verdict, failed_checks) VALUES (?, ?, ?, ?)");
  Statement place(database, "UPDATE attempt SET plugin_set = ? WHERE id = ?");
  Statement ask(database,
                "SELECT u.attempt, u.plugin, p.kind, p.name, p.version, p.code_identity, p.content_hash, p.path, u.verdict, "
                "u.failed_checks FROM attempt_plugin u JOIN plugin p ON p.id = u.plugin ORDER BY u.attempt");
  std::int64_t attempt = 0;
  std::vector<Use> uses;
  const auto end = [&](std::int64_t next) {
    if (attempt != 0) {
      std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.content < b.content; });
      std::string content;
      for (const auto& use : uses) content += use.content;
      const auto [set, fresh] = sets.put(content);
      for (const auto& use : uses) {
        if (!fresh) break;
        execute(add, set, use.plugin, use.verdict, use.failed_checks);
      }
      execute(place, set, attempt);
    }
    attempt = next;
    uses.clear();
  };
  while (ask.executeStep()) {
    if (const auto of = ask.getColumn(0).getInt64(); of != attempt) end(of);
    uses.push_back({ask.getColumn(1).getInt64(), ask.getColumn(8).getString(), ask.getColumn(9).getString(), {}});
    for (int field = 2; field <= 9; ++field) add_field(uses.back().content, ask.getColumn(field).getString());
  }
  end(0);
}

}  // namespace

void add_field(std::string& content, std::string_view field) { content += fmt::format("{}:{};", field.size(), field); }

std::string value_at(const std::string& path) {
  return fmt::format(
      "coalesce((SELECT value FROM parameter WHERE path = {0} AND setting = t.setting), (SELECT id FROM value WHERE id = "
      "t.seed AND path = {0}))",
      path);
}

void share_settings(SQLite::Database& database) {
  share_parameters(database);
  share_plugins(database);
  database.exec(
      "DROP TABLE old_parameter; DROP TABLE attempt_plugin; CREATE INDEX attempt_by_trial ON attempt (trial, outcome, turn, "
      "uid, plugin_set, environment, main_metric)");
}

}  // namespace ablate::db
