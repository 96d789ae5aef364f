#include "db/history/nested_compressions.h"

#include <nlohmann/json.hpp>

#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

void nest_compressions(SQLite::Database& database) {
  SQLite::Statement all(database, "SELECT trial, json FROM resolved WHERE json LIKE '%\"compression\"%'");
  SQLite::Statement put(database, "UPDATE resolved SET json = ? WHERE trial = ?");
  SQLite::Statement settings(database, "UPDATE trial SET configuration = ? WHERE id = ?");
  std::vector<std::pair<std::int64_t, std::string>> changed;
  while (all.executeStep()) {
    auto resolved = stored_json(all.getColumn(1).getString());
    if (!resolved.is_object()) continue;  // of another program
    const auto compression = resolved.find("compression");
    const auto attention = resolved.find("attention");
    if (compression == resolved.end() || attention == resolved.end() || !attention->is_object()) continue;
    (*attention)["compression"] = *compression;
    resolved.erase("compression");
    changed.emplace_back(all.getColumn(0).getInt64(), json_text(resolved));
  }
  for (const auto& [trial, text] : changed) {
    execute(put, text, trial);
    execute(settings, configuration_of(text), trial);
  }
}

}  // namespace ablate::db
