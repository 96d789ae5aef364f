// Trials with their parameters, on their way into the tables. Internal to db/.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/util/lazy.h"
#include "db/history/prepared_statements.h"

namespace ablate::db {

/// What a trial printed may be any bytes, cut anywhere: JSON text must be UTF-8.
std::string json_text(const nlohmann::json& json);

/// Adds a field to a content, so that none can pass for its neighbour.
void add_field(std::string& content, std::string_view field);

/// 64 bits of the hash of a trial's settings. @param resolved as json_text has them
std::int64_t configuration_of(const std::string& resolved);

/// The id of the trial that a key stands for: its own where that is done, else another's by a proof, else its own; NULL where
/// there is none.
inline constexpr const char* kFindTrial =
    "SELECT coalesce((SELECT id FROM trial t WHERE key = ?1 AND EXISTS (SELECT 1 FROM attempt WHERE trial = t.id AND outcome = "
    "'done')), (SELECT trial FROM alias WHERE key = ?1), (SELECT id FROM trial WHERE key = ?1))";

/// Lives as long as one transaction: ids of settings, paths and values that are rolled back must not be remembered.
class TrialWriter {
 public:
  explicit TrialWriter(SQLite::Database& database);

  /// @return the trial's id; one that is known already is left as it is.
  std::int64_t put(const std::string& key, const Lazy<nlohmann::json>& resolved);
  /// Makes these the settings of a trial that is known.
  void settle(std::int64_t trial, const nlohmann::json& resolved);

 private:
  /// Where a trial's parameters are: ids. A trial without a seed has 0.
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
