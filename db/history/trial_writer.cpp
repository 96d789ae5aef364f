#include "db/history/trial_writer.h"

#include <fmt/format.h>

#include "core/records/setting_paths.h"
#include "core/util/flatten.h"
#include "core/util/rate_text.h"
#include "core/util/sha256.h"
#include "db/types/records.h"

namespace ablate::db {
namespace {

const char* type_of(const nlohmann::json& value) {
  return value.is_number_integer() ? "integer" : value.is_number() ? "real" : value.is_boolean() ? "boolean" : "text";
}

std::string text_of(const nlohmann::json& value) { return value.is_string() ? value.get<std::string>() : json_text(value); }

}  // namespace

std::string json_text(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void add_field(std::string& content, std::string_view field) { content += fmt::format("{}:{};", field.size(), field); }

std::int64_t configuration_of(const std::string& resolved) {
  return static_cast<std::int64_t>(std::stoull(sha256(resolved).substr(0, 16), nullptr, 16));
}

TrialWriter::TrialWriter(SQLite::Database& database)
    : database_(database),
      find_trial_(database, kFindTrial),
      add_trial_(database, "INSERT INTO trial (key, configuration, setting, seed) VALUES (?, ?, ?, nullif(?, 0))"),
      add_resolved_(database, "INSERT INTO resolved (trial, json) VALUES (?, ?)"),
      find_setting_(database, "SELECT id FROM setting WHERE hash = ?"),
      add_setting_(database, "INSERT INTO setting (hash) VALUES (?)"),
      add_parameter_(database, "INSERT INTO parameter (path, setting, value) VALUES (?, ?, ?)"),
      find_path_(database, "SELECT id FROM path WHERE name = ?"),
      add_path_(database, "INSERT INTO path (name) VALUES (?)"),
      find_value_(database, "SELECT id FROM value WHERE path = ? AND text = ? AND type = ?"),
      add_value_(database, "INSERT INTO value (path, text, type, number) VALUES (?, ?, ?, ?)") {}

std::int64_t TrialWriter::put(const std::string& key, const Lazy<nlohmann::json>& resolved) {
  if (const auto known = number_from(find_trial_, key); known != 0) return known;
  const auto document = resolved.get();
  const auto text = json_text(document);
  const auto stored = put_settings(document);
  execute(add_trial_, key, configuration_of(text), stored.setting, stored.seed);
  const auto trial = database_.getLastInsertRowid();
  execute(add_resolved_, trial, text);
  return trial;
}

void TrialWriter::settle(std::int64_t trial, const nlohmann::json& resolved) {
  const auto text = json_text(resolved);
  SQLite::Statement put(database_,
                        "INSERT INTO resolved (trial, json) VALUES (?, ?) ON CONFLICT DO UPDATE SET json = excluded.json WHERE "
                        "json <> excluded.json");
  SQLite::bind(put, trial, text);
  if (put.exec() == 0) return;
  const auto stored = put_settings(resolved);
  SQLite::Statement configure(database_, "UPDATE trial SET configuration = ?, setting = ?, seed = nullif(?, 0) WHERE id = ?");
  execute(configure, configuration_of(text), stored.setting, stored.seed, trial);
}

TrialWriter::Stored TrialWriter::put_settings(const nlohmann::json& resolved) {
  auto parameters = flatten(resolved);
  Stored stored;
  if (const auto seed = parameters.find(setting::kSeed); seed != parameters.end()) {
    stored.seed = value(path(setting::kSeed), seed->second);
    parameters.erase(seed);
  }
  stored.setting = setting(parameters);
  return stored;
}

std::int64_t TrialWriter::setting(const std::map<std::string, nlohmann::json>& parameters) {
  std::string content;
  for (const auto& [name, value] : parameters)
    for (const auto& field : {name, std::string(type_of(value)), text_of(value)}) add_field(content, field);
  const auto [at, fresh] = settings_.try_emplace(sha256(content), 0);
  if (!fresh) return at->second;
  at->second = number_from(find_setting_, at->first);
  if (at->second != 0) return at->second;
  execute(add_setting_, at->first);
  const auto setting = at->second = database_.getLastInsertRowid();
  for (const auto& [name, value] : parameters) {
    const auto path = this->path(name);
    execute(add_parameter_, path, setting, this->value(path, value));
  }
  return setting;
}

std::int64_t TrialWriter::path(const std::string& name) {
  const auto [at, fresh] = paths_.try_emplace(name, 0);
  if (!fresh) return at->second;
  at->second = number_from(find_path_, name);
  if (at->second == 0) {
    execute(add_path_, name);
    at->second = database_.getLastInsertRowid();
  }
  return at->second;
}

std::int64_t TrialWriter::value(std::int64_t path, const nlohmann::json& value) {
  const auto* const type = type_of(value);
  const auto text = text_of(value);
  const auto [at, fresh] = values_.try_emplace(fmt::format("{} {} {}", path, type, text), 0);
  if (!fresh) return at->second;
  at->second = number_from(find_value_, path, text, type);
  if (at->second != 0) return at->second;
  SQLite::bind(add_value_, path, text, type);
  if (value.is_number_integer())
    add_value_.bind(4, value.get<std::int64_t>());
  else if (value.is_number())
    add_value_.bind(4, value.get<double>());
  else if (value.is_boolean())
    add_value_.bind(4, value.get<bool>() ? 1 : 0);
  else if (const auto rate = parse_rate(text); rate && value.is_string())
    add_value_.bind(4, rate->value());
  else
    add_value_.bind(4);
  execute(add_value_);
  return at->second = database_.getLastInsertRowid();
}

}  // namespace ablate::db
