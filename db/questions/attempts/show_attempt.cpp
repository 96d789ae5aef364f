#include "db/questions/attempts/show_attempt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "core/util/error.h"
#include "core/util/rate_text.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"
#include "db/history/artifacts.h"
#include "db/history/proofs.h"
#include "db/history/schema.h"
#include "db/history/sql.h"
#include "db/history/stored_json.h"
#include "db/history/unlike_attempts.h"
#include "db/questions/selection/selection.h"
#include "db/report/format.h"
#include "db/report/named_rows.h"

namespace ablate::db {
namespace {

using nlohmann::ordered_json;
using SQLite::Statement;

/// Command that runs a trial of an experiment's latest grid again. note: reasons why the new run may differ from the earlier
/// run; "" if no reason is known.
struct Repeat {
  std::string command, note;
};

/// Study of an experiment's latest run.
struct StoredStudy {
  std::int64_t experiment;
  std::string file, text;
  ordered_json overrides;
  bool listed;  ///< true if the experiment's latest grid has the trial
};

/// True if a parameter's text looks like a relative path; "1/2,1/4" does not.
bool is_relative_path(const ordered_json& value) {
  if (!value.is_string()) return false;
  const auto text = value.get<std::string>();
  return text.find('/') != std::string::npos && text.front() != '/' && !parse_rate(text.substr(0, text.find(',')));
}

/// @param folders result of named_folders
/// @param parameters the trial's parameters, by path
/// @param changed plugins that have other code today, which changes the trial's key
Repeat repeat_of(const StoredStudy& study, const std::string& key, const std::vector<std::string>& folders,
                 const ordered_json& parameters, const std::vector<std::string>& changed) {
  // A done trial does not run again in the same history, so the repetition uses another history.
  Repeat repeat{"ABLATE_DB=repeat.db ablate run " + shell_word(study.file), ""};
  for (const auto& folder : folders) repeat.command += " --plugins " + shell_word(folder);
  for (const auto& override_ : study.overrides) repeat.command += " --set " + shell_word(override_.get<std::string>());
  repeat.command += " --only " + shell_word(short_digest(key));
  std::ifstream in;
  if (std::error_code none; std::filesystem::is_regular_file(study.file, none)) in.open(study.file, std::ios::binary);
  const bool same = in.is_open() && std::string(std::istreambuf_iterator<char>(in), {}) == study.text;
  if (!study.listed)
    repeat.note = "the study has changed since: its latest grid does not have this trial";
  else if (!in.is_open())
    repeat.note = "the study's file is missing";
  else if (!same)
    repeat.note = "the study has changed since: its file differs from the file that was run";
  const auto add = [&](const std::string& note) { repeat.note += (repeat.note.empty() ? "" : "; ") + note; };
  if (!changed.empty())
    add(fmt::format("the code of {} has changed since, and so has the key: --dry-run shows the new key",
                    fmt::join(changed, ", ")));
  if (std::any_of(parameters.begin(), parameters.end(), is_relative_path))
    add("relative paths start at the folder in which the study was run");
  return repeat;
}

/// Returns the distinct folders of an experiment's plugins that `ablate run` needs in --plugins. A study needs the plugins of
/// all its trials, even if only some of them run.
std::vector<std::string> named_folders(const Reader& reader, std::int64_t experiment,
                                       const std::vector<std::filesystem::path>& default_folders) {
  std::vector<std::string> folders;
  const auto canonical = [](const std::filesystem::path& folder) {
    std::error_code none;
    const auto found = std::filesystem::weakly_canonical(folder, none);
    return found.empty() ? folder.lexically_normal() : found;
  };
  Statement libraries(reader.database(),
                      "SELECT DISTINCT p.path FROM experiment_trial m JOIN attempt a ON a.trial = m.trial JOIN plugin_of_set u "
                      "ON u.plugin_set = a.plugin_set JOIN plugin p ON p.id = u.plugin WHERE m.experiment = ? ORDER BY p.id");
  libraries.bind(1, experiment);
  while (libraries.executeStep()) {
    const auto folder = std::filesystem::path(libraries.getColumn(0).getString()).parent_path();
    const bool is_default = std::any_of(default_folders.begin(), default_folders.end(),
                                        [&](const auto& other) { return canonical(other) == canonical(folder); });
    if (!folder.empty() && !is_default && std::find(folders.begin(), folders.end(), folder.string()) == folders.end())
      folders.push_back(folder.string());
  }
  return folders;
}

ordered_json number(const SQLite::Column& column) {
  if (column.isNull() || !std::isfinite(column.getDouble())) return nullptr;
  return column.getDouble();
}

/// Returns the environment as {name: value}, or {"damaged": message} if the text is no JSON object.
ordered_json environment_of(const std::string& text) {
  auto found = stored_json<ordered_json>(text);
  if (found.is_object()) return found;
  return {{"damaged", fmt::format("found \"{}\", expected a JSON object", first_line(text))}};
}

/// Returns the overrides of a study; none if the text is no list of texts.
ordered_json overrides_of(const std::string& text) {
  const auto is_text = [](const ordered_json& one) { return one.is_string(); };
  auto found = stored_json<ordered_json>(text);
  return found.is_array() && std::all_of(found.begin(), found.end(), is_text) ? found : ordered_json::array();
}

ordered_json integer(const SQLite::Column& column) {
  return column.isNull() ? ordered_json(nullptr) : ordered_json(column.getInt64());
}

/// Returns the attempt's files with their state.
ordered_json files_of(const Reader& reader, std::int64_t attempt) {
  auto files = ordered_json::array();
  for (const auto& one : artifacts_of(reader.database(), fmt::format("= {}", attempt))) {
    if (!one.is_ours()) continue;
    std::error_code none;
    const auto file = std::filesystem::absolute(one.in(reader.file()));
    files.push_back({{"kind", one.kind},
                     {"file", file.string()},
                     {"bytes", one.bytes},
                     {"of_bytes", one.of_bytes},
                     {"is_there", std::filesystem::exists(file, none)},
                     {"removed_us", one.removed_us == 0 ? ordered_json(nullptr) : ordered_json(one.removed_us)}});
  }
  return files;
}

/// Returns the checkpoint that an attempt resumed from, as its environment records it; null if there is no valid record.
ordered_json resumed_of(const Reader& reader, const ordered_json& environment) {
  const auto found = environment.find("resumed");
  if (found == environment.end() || !found->is_object() || !found->value("step", ordered_json()).is_number_integer())
    return nullptr;
  ordered_json resumed{
      {"step", (*found)["step"]}, {"attempt", nullptr}, {"processor", nullptr}, {"environments", ordered_json::array()}};
  if (const auto processor = found->find("processor"); processor != found->end() && processor->is_string())
    resumed["processor"] = *processor;
  if (const auto all = found->find("environments"); all != found->end() && all->is_array()) resumed["environments"] = *all;
  const auto owner = found->find("attempt");
  if (owner == found->end() || !owner->is_string()) return resumed;
  Statement ask(reader.database(), "SELECT id FROM attempt WHERE uid = ?");
  const auto uid = bytes_of_uid(owner->get<std::string>());
  ask.bind(1, uid.data(), static_cast<int>(uid.size()));
  if (ask.executeStep()) resumed["attempt"] = ask.getColumn(0).getInt64();
  return resumed;
}

/// Key with which the trial would run today, and the plugins whose code has changed. Code that a proof covers counts as equal.
struct Today {
  std::string key;
  std::vector<std::string> changed;
};

Today today_of(const Reader& reader, std::int64_t trial, const ordered_json& all,
               const std::function<std::string(const std::string&)>& code_in) {
  Today today{all["key"], {}};
  if (!code_in) return today;
  const auto proven = proven_keys(reader, trial);
  bool other = false;
  for (const auto& plugin : all["plugins"]) {
    const auto code = code_in(plugin["path"]);
    if (code.empty() || code == plugin["code_identity"]) continue;
    other = true;
    if (!proven.code_now.contains(code)) today.changed.push_back(plugin["id"]);
  }
  if (other && !proven.latest.empty()) today.key = proven.latest;
  return today;
}

}  // namespace

ordered_json show_attempt(const Reader& reader, const std::string& name,
                          const std::vector<std::filesystem::path>& default_folders,
                          const std::function<std::string(const std::string&)>& code_in) {
  return guarded(reader.file(), [&] {
    auto& database = reader.database();
    const auto [id, trial, by_key] = find_attempt(reader, name);
    const auto ask = [&](const std::string& sql, std::int64_t argument) {
      Statement statement(database, sql);
      statement.bind(1, argument);
      return statement;
    };
    ordered_json all;
    auto attempt =
        ask("SELECT t.key, a.outcome, a.reason, a.signal, a.exit_code, a.started_us, a.wall_s, nullif(a.cpu_s, 0), "
            "nullif(a.peak_resident_bytes, 0), a.output, e.json, nullif(a.step, 0), nullif(a.steps, 0) FROM attempt a JOIN "
            "trial t ON t.id = a.trial JOIN environment e ON e.id = a.environment WHERE a.id = ?",
            id);
    attempt.executeStep();
    all["attempt"] = id;
    all["key"] = attempt.getColumn(0).getString();
    all["experiments"] = ordered_json::array();
    std::optional<StoredStudy> repeated;
    auto experiments =
        ask("SELECT e.name, e.file, e.overrides, e.text, m.listed, e.id FROM experiment_trial m JOIN experiment e ON e.id = "
            "m.experiment WHERE m.trial = ? ORDER BY e.id",
            trial);
    while (experiments.executeStep()) {
      const auto file = experiments.getColumn(1).getString();
      const auto overrides = overrides_of(experiments.getColumn(2).getString());
      const bool listed = experiments.getColumn(4).getInt() != 0;
      all["experiments"].push_back(
          {{"name", experiments.getColumn(0).getString()}, {"file", file}, {"overrides", overrides}, {"latest_grid", listed}});
      // Takes the latest experiment whose latest grid has the trial, else the latest experiment that once had it.
      if (!file.empty() && (!repeated || listed || !repeated->listed))  // imports have no study
        repeated =
            StoredStudy{experiments.getColumn(5).getInt64(), file, experiments.getColumn(3).getString(), overrides, listed};
    }
    all["outcome"] = attempt.getColumn(1).getString();
    all["reason"] = attempt.getColumn(2).getString();
    all["signal"] = integer(attempt.getColumn(3));
    all["exit_code"] = integer(attempt.getColumn(4));
    all["started_us"] = attempt.getColumn(5).getInt64();
    all["wall_s"] = attempt.getColumn(6).getDouble();
    all["step"] = integer(attempt.getColumn(11));
    all["steps"] = integer(attempt.getColumn(12));
    all["cpu_s"] = number(attempt.getColumn(7));
    all["peak_resident_bytes"] = integer(attempt.getColumn(8));

    all["parameters"] = ordered_json::object();
    auto parameters = ask("SELECT n.name, v.type, v.text, v.number FROM trial t CROSS JOIN path n JOIN value v ON v.id = " +
                              value_at("n.id") + " WHERE t.id = ? ORDER BY n.name",
                          trial);
    while (parameters.executeStep()) {
      const auto stored = parameters.getColumn(3);
      all["parameters"][parameters.getColumn(0).getString()] = stored_value(
          parameters.getColumn(1).getString(), parameters.getColumn(2).getString(), stored.getInt64(), stored.getDouble());
    }

    all["results"] = ordered_json::array();
    auto results =
        ask("SELECT m.name, r.value, m.unit, m.direction FROM metric m CROSS JOIN result r ON r.metric = m.id WHERE r.attempt "
            "= ? ORDER BY m.name",
            id);
    while (results.executeStep())
      all["results"].push_back(
          {{"metric", results.getColumn(0).getString()},
           {"value", results.getColumn(1).isNull() ? ordered_json(nullptr)
                                                   : json_number<ordered_json>(results.getColumn(1).getDouble())},
           {"unit", results.getColumn(2).getString()},
           {"direction", results.getColumn(3).getString()}});

    auto judge = ask("SELECT m.name FROM attempt a JOIN metric m ON m.id = a.main_metric WHERE a.id = ?", id);
    all["main_metric"] = judge.executeStep() ? ordered_json(judge.getColumn(0).getString()) : ordered_json(nullptr);
    all["curves"] = ordered_json::object();
    auto curves =
        ask("SELECT m.name, c.step, c.value FROM curve c JOIN metric m ON m.id = c.metric WHERE c.attempt = ? ORDER BY m.name, "
            "c.step",
            id);
    while (curves.executeStep())
      all["curves"][curves.getColumn(0).getString()].push_back({curves.getColumn(1).getInt64(), number(curves.getColumn(2))});

    all["plugins"] = ordered_json::array();
    auto plugins = ask(
        "SELECT p.kind, p.name, p.version, p.code_identity, p.content_hash, p.path, u.verdict, u.failed_checks FROM "
        "attempt a JOIN plugin_of_set u ON u.plugin_set = a.plugin_set JOIN plugin p ON p.id = u.plugin WHERE a.id = ? ORDER "
        "BY p.kind, p.name",
        id);
    while (plugins.executeStep()) {
      ordered_json plugin;
      int column = 0;
      for (const auto* field : {"kind", "id", "version", "code_identity", "content_hash", "path", "verdict", "failed_checks"})
        plugin[field] = plugins.getColumn(column++).getString();
      all["plugins"].push_back(plugin);
    }
    all["environment"] = environment_of(attempt.getColumn(10).getString());
    all["output"] = attempt.getColumn(9).getString();
    all["files"] = files_of(reader, id);
    all["resumed"] = resumed_of(reader, all["environment"]);
    all["attempts"] = ordered_json::array();
    auto attempts = ask("SELECT id, outcome FROM attempt WHERE trial = ? ORDER BY turn, id", trial);
    while (attempts.executeStep())
      all["attempts"].push_back(
          {{"attempt", attempts.getColumn(0).getInt64()}, {"outcome", attempts.getColumn(1).getString()}});
    all["unlike"] = ordered_json::array();
    for (const auto& one : unlike_attempts(database, fmt::format("= {}", trial))) all["unlike"].push_back(one.text);
    const auto today = today_of(reader, trial, all, code_in);
    const auto repeat = repeated ? repeat_of(*repeated, today.key, named_folders(reader, repeated->experiment, default_folders),
                                             all["parameters"], today.changed)
                                 : Repeat();
    all["repeat"] = repeat.command;
    all["repeat_note"] = repeat.note;
    return all;
  });
}

using SQLite::Statement;

FoundAttempt find_attempt(const Reader& reader, const std::string& name) {
  auto& database = reader.database();
  const bool digits = !name.empty() && name.size() < 18 && name.find_first_not_of("0123456789") == std::string::npos;
  if (digits) {
    Statement by_number(database, "SELECT trial FROM attempt WHERE id = ?");
    by_number.bind(1, static_cast<std::int64_t>(std::stoll(name)));
    if (by_number.executeStep()) return {std::stoll(name), by_number.getColumn(0).getInt64(), false};
  }
  const bool hex = name.size() >= 4 && name.find_first_not_of("0123456789abcdef") == std::string::npos;
  Statement by_key(database, "SELECT id, key FROM trial WHERE key >= ? AND key < ? ORDER BY key LIMIT 2");
  if (hex) {
    SQLite::bind(by_key, name, name + "g");  // "g" sorts after every hex digit
    if (by_key.executeStep()) {
      const auto trial = by_key.getColumn(0).getInt64();
      const auto key = by_key.getColumn(1).getString();
      if (by_key.executeStep())
        throw Error(fmt::format("several trials' keys begin with {}: {}, {}, ...; give more digits", name, short_digest(key),
                                short_digest(by_key.getColumn(1).getString())));
      Statement latest(
          database,
          fmt::format("SELECT id FROM attempt WHERE trial = ? ORDER BY outcome = 'done' DESC, {} LIMIT 1", kLatestFirst));
      latest.bind(1, trial);
      if (!latest.executeStep()) throw Error(fmt::format("trial {} has not run yet", short_digest(key)));
      return {latest.getColumn(0).getInt64(), trial, true};
    }
  }
  Statement last(database, "SELECT max(id) FROM attempt");
  last.executeStep();
  const auto highest = last.getColumn(0);
  throw Error(fmt::format(
      "{} has no attempt {}: expected {} or at least 4 hex digits of a trial's key. `ablate attempts` lists the latest.",
      reader.file().string(), name,
      highest.isNull() ? "an attempt's number (there are none yet)" : fmt::format("a number up to {}", highest.getInt64())));
}

}  // namespace ablate::db
