// Writes trials with their parameters into the tables. Internal to db/.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/util/lazy.h"
#include "db/history/prepared_statements.h"

namespace ablate::db {

/// Returns JSON text in UTF-8. Replaces invalid bytes, because a trial may print any bytes.
std::string json_text(const nlohmann::json& json);

/// Appends a field's length and the field to a content, so that different field lists never give the same content.
void add_field(std::string& content, std::string_view field);

/// Returns 64 bits of the hash of a trial's settings, from their json_text.
std::int64_t configuration_of(const std::string& resolved);

/// SQL for the id of a key's trial; NULL if there is none. A done trial with the key comes first, then a trial that has the key
/// by a proof, then any trial with the key.
inline constexpr const char* kFindTrial =
    "SELECT coalesce((SELECT id FROM trial t WHERE key = ?1 AND EXISTS (SELECT 1 FROM attempt WHERE trial = t.id AND outcome = "
    "'done')), (SELECT trial FROM alias WHERE key = ?1), (SELECT id FROM trial WHERE key = ?1))";

/// Must not outlive a transaction, because it caches ids of settings, paths and values that a rollback would remove.
class TrialWriter {
 public:
  explicit TrialWriter(SQLite::Database& database);

  /// Adds a trial, and returns its id. A known trial does not change.
  std::int64_t put(const std::string& key, const Lazy<nlohmann::json>& resolved);
  /// Replaces the settings of a known trial.
  void settle(std::int64_t trial, const nlohmann::json& resolved);

 private:
  /// Ids of a trial's parameters. seed: 0 if the trial has no seed.
  struct Stored {
    std::int64_t setting = 0, seed = 0;
  };
  Stored put_settings(const nlohmann::json& resolved);
  std::int64_t setting(const std::map<std::string, nlohmann::json>& parameters);
  std::int64_t path(const std::string& name);
  std::int64_t value(std::int64_t path, const nlohmann::json& value);

  SQLite::Database& database_;
  SQLite::Statement find_trial_, add_trial_, add_resolved_, find_setting_, add_setting_, add_parameter_;
  SQLite::Statement find_path_, add_path_, find_value_, add_value_;
  std::unordered_map<std::string, std::int64_t> settings_, paths_, values_;
};

}  // namespace ablate::db
