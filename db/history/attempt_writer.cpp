#include "db/history/attempt_writer.h"

#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "core/records/outcome.h"
#include "core/util/sha256.h"
#include "db/history/artifacts.h"
#include "db/history/lineage.h"
#include "db/history/proofs.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

std::int64_t AttemptWriter::put(const Attempt& attempt) {
  const auto trial = own_trial(database_, attempt.key);
  if (trial == 0)
    throw UnknownTrial(fmt::format("an attempt at trial {}, which is not known: put_trials comes first", attempt.key));
  settle(attempt, trial);
  const auto id = add(attempt, trial);
  put_in_place(database_, attempt.key, trial, attempt.outcome == outcome::kDone);

  auto result = statements_("INSERT INTO result (metric, attempt, value) SELECT id, ?2, ?3 FROM metric WHERE name = ?1");
  for (const auto& [name, value] : attempt.results) {
    const auto put = [&, &name = name, &value = value] {
      result->bindNoCopy(1, name);
      result->bind(2, id);
      result->bind(3, value);
      const int rows = result->exec();
      result->reset();
      return rows;
    };
    if (put() == 0) metric(name), put();
  }
  // A resumed run may report a step twice. The last value counts, because the results come from that value.
  auto point = statements_("INSERT OR REPLACE INTO curve (attempt, metric, step, value) VALUES (?, ?, ?, ?)");
  std::unordered_map<std::string, std::int64_t> metrics;
  for (const auto& [name, step, value] : attempt.curve) {
    const auto [at, fresh] = metrics.try_emplace(name, 0);
    if (fresh) at->second = metric(name);
    execute(*point, id, at->second, step, value);
  }
  if (!attempt.artifacts.empty()) put_artifacts(database_, id, attempt);
  return id;
}

void AttemptWriter::settle(const Attempt& attempt, std::int64_t trial) {
  if (attempt.resolved.is_null()) return;
  if (attempt.outcome != outcome::kDone &&  // the trial keeps the settings of its done attempt
      number_from(*statements_("SELECT 1 FROM attempt WHERE trial = ? AND outcome = 'done'"), trial) != 0)
    return;
  auto same = statements_("SELECT 1 FROM resolved WHERE trial = ? AND json = ?");
  if (number_from(*same, trial, json_text(attempt.resolved)) == 0) TrialWriter(database_).settle(trial, attempt.resolved);
}

std::int64_t AttemptWriter::add(const Attempt& attempt, std::int64_t trial) {
  const auto place = put_text(database_, "environment",
                              json_text(attempt.environment.is_null() ? nlohmann::json::object() : attempt.environment)),
             plugins = plugin_set(attempt.plugins);
  const auto main = attempt.main_metric.empty() ? 0 : metric(attempt.main_metric);
  auto add = statements_(
      "INSERT INTO attempt (trial, outcome, reason, started_us, wall_s, cpu_s, peak_resident_bytes, signal, exit_code, "
      "environment, output, step, steps, main_metric, uid, turn, plugin_set) SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, "
      "?11, ?12, ?13, ?14, coalesce(?15, randomblob(16)), max(?4, coalesce(max(turn) + 1, ?4)), nullif(?16, 0) FROM attempt "
      "WHERE trial = ?1");
  SQLite::bind(*add, trial, attempt.outcome, attempt.reason, attempt.started_us, attempt.wall_s, attempt.cpu_s,
               attempt.peak_resident_bytes);
  if (attempt.signal) add->bind(8, *attempt.signal);
  if (attempt.exit_code) add->bind(9, *attempt.exit_code);
  add->bind(10, place);
  add->bind(11, attempt.output);
  add->bind(12, attempt.step);
  add->bind(13, attempt.steps);
  if (main != 0) add->bind(14, main);
  if (const auto uid = bytes_of_uid(attempt.uid); !uid.empty()) add->bind(15, uid.data(), static_cast<int>(uid.size()));
  add->bind(16, plugins);
  add->exec();
  return database_.getLastInsertRowid();
}

std::int64_t AttemptWriter::metric(const std::string& name) {
  if (const auto known = number_from(*statements_("SELECT id FROM metric WHERE name = ?"), name); known != 0) return known;
  auto add = statements_("INSERT INTO metric (name, unit, direction, description) VALUES (?, '', '', '')");
  execute(*add, name);
  return database_.getLastInsertRowid();
}

std::int64_t AttemptWriter::plugin(const UsedPlugin& plugin) {
  const auto& [kind, id, version, code_identity, content_hash, path, verdict, place, length] = plugin;
  auto find = statements_(
      "SELECT id FROM plugin WHERE kind = ? AND name = ? AND version = ? AND code_identity = ? AND content_hash = ? AND path "
      "= ?");
  if (const auto known = number_from(*find, kind, id, version, code_identity, content_hash, path); known != 0) return known;
  auto add =
      statements_("INSERT INTO plugin (kind, name, version, code_identity, content_hash, path) VALUES (?, ?, ?, ?, ?, ?)");
  execute(*add, kind, id, version, code_identity, content_hash, path);
  return database_.getLastInsertRowid();
}

std::int64_t AttemptWriter::plugin_set(const std::vector<UsedPlugin>& plugins) {
  if (plugins.empty()) return 0;
  std::map<std::string, const UsedPlugin*> uses;  // by the plugin's content: a set has each plugin once
  for (const auto& plugin : plugins) {
    std::string content;
    for (const auto* field :
         {&plugin.kind, &plugin.id, &plugin.version, &plugin.code_identity, &plugin.content_hash, &plugin.path})
      add_field(content, *field);
    uses.emplace(std::move(content), &plugin);
  }
  std::string content;
  for (const auto& [of_plugin, use] : uses) {
    content += of_plugin;
    for (const auto* field : {&use->verdict.verdict, &use->verdict.failed_checks}) add_field(content, *field);
    if (use->length > 0)  // sets without a length keep the hash that they had before lengths were stored
      for (const auto& field : {use->place, std::to_string(use->length), std::to_string(use->checked_length())})
        add_field(content, field);
  }
  const auto hash = sha256(content);
  if (const auto known = number_from(*statements_("SELECT id FROM plugin_set WHERE hash = ?"), hash); known != 0) return known;
  for (const auto& each : plugins) plugin(each);  // numbers new plugins in the order of `plugins`
  auto add = statements_("INSERT INTO plugin_set (hash) VALUES (?)");
  execute(*add, hash);
  const auto set = database_.getLastInsertRowid();
  auto put = statements_(
      "INSERT INTO plugin_of_set (plugin_set, plugin, verdict, failed_checks, place, length, checked_length) "
      "VALUES (?, ?, ?, ?, ?, ?, ?)");
  for (const auto& [of_plugin, use] : uses)
    execute(*put, set, plugin(*use), use->verdict.verdict, use->verdict.failed_checks, use->place, use->length,
            use->checked_length());
  return set;
}

}  // namespace ablate::db
