#include "db/history/experiments.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/plain_text.h"
#include "db/history/artifacts.h"
#include "db/history/keeping.h"
#include "db/history/location.h"
#include "db/history/names.h"
#include "db/history/running.h"
#include "db/history/schema.h"
#include "db/history/trial_writer.h"

namespace ablate::db {
namespace {

using SQLite::Statement;

/// Runs f(database, id of the experiment) as one transaction.
template <class F>
void change(const std::filesystem::path& file, const std::string& name, F&& f) {
  guarded(file, [&] {
    { const Reader expected(file); }  // throws Error if the file is no history; writes nothing
    check_writing_location(file);
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE, kUsualPatienceMs);
    trust_nothing(database);
    database.exec("PRAGMA foreign_keys = OFF");  // for speed: see kDeletes
    SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
    f(database, expect_experiment(database, file, name));
    transaction.commit();
  });
}

void run(SQLite::Database& database, const std::string& sql, std::int64_t argument) {
  Statement statement(database, sql);
  if (statement.getBindParameterCount() > 0) statement.bind(1, argument);
  statement.exec();
}

std::int64_t number(SQLite::Database& database, const std::string& sql, std::int64_t argument) {
  Statement statement(database, sql);
  if (statement.getBindParameterCount() > 0) statement.bind(1, argument);
  statement.executeStep();
  return statement.getColumn(0).getInt64();
}

/// Trials that only this experiment has.
constexpr const char* kOwn =
    "SELECT m.trial FROM experiment_trial m WHERE m.experiment = ?1 AND NOT EXISTS (SELECT 1 FROM experiment_trial o WHERE "
    "o.trial = m.trial AND o.experiment <> ?1)";

Deletion deletion_of(SQLite::Database& database, std::int64_t experiment) {
  const std::string own = kOwn;
  Deletion found;
  found.trials = number(database, "SELECT count(*) FROM (" + own + ")", experiment);
  found.attempts = number(database, "SELECT count(*) FROM attempt WHERE trial IN (" + own + ")", experiment);
  found.last_attempt = number(database, "SELECT coalesce(max(id), 0) FROM attempt WHERE trial IN (" + own + ")", experiment);
  found.shared = number(database, "SELECT count(*) FROM experiment_trial WHERE experiment = ?1", experiment) - found.trials;
  std::set<std::string> keys;
  Statement ask(
      database,
      "SELECT r.key FROM running r JOIN (SELECT id, key FROM trial UNION ALL SELECT trial, key FROM alias) t ON t.key "
      "= r.key JOIN experiment_trial m ON m.trial = t.id WHERE m.experiment = ?1");
  ask.bind(1, experiment);
  while (ask.executeStep()) keys.insert(ask.getColumn(0).getString());
  found.running = others_running(database, keys);
  return found;
}

void expect_tag(const std::string& tag) {
  auto why = name_refusal(tag);
  if (why.empty() && tag.find_first_of(" ,") != std::string::npos) why = "holds a blank or a comma";
  if (!why.empty()) throw Error(fmt::format("the tag \"{}\" {}, expected one word", with_invisible_shown(tag), why));
}

/// Deletes all rows of the trials in temp.gone and the attempts in temp.gone_attempt. Foreign keys are off, because without an
/// index SQLite would scan each table for every trial.
constexpr const char* kDeletes[] = {
    // The index of this table begins with the metric, so the condition names the metrics.
    "DELETE FROM result WHERE metric IN (SELECT id FROM metric) AND attempt IN gone_attempt",
    "DELETE FROM curve WHERE attempt IN gone_attempt",
    "DELETE FROM artifact WHERE attempt IN gone_attempt",
    "DELETE FROM proof_attempt WHERE attempt IN gone_attempt",
    "DELETE FROM attempt WHERE id IN gone_attempt",
    "DELETE FROM running WHERE key IN (SELECT key FROM trial WHERE id IN gone)",
    "DELETE FROM lease WHERE outcome IS NOT NULL AND key IN (SELECT key FROM trial WHERE id IN gone)",
    "DELETE FROM alias WHERE trial IN gone",
    "DELETE FROM key_part WHERE trial IN gone",
    "DELETE FROM resolved WHERE trial IN gone",
    "DELETE FROM published_value WHERE experiment = ?1 OR trial IN gone",
    "DELETE FROM experiment_trial WHERE experiment = ?1",
    "DELETE FROM trial WHERE id IN gone",
    // Rows that no other row uses any more.
    "DELETE FROM setting WHERE id NOT IN (SELECT setting FROM trial WHERE setting IS NOT NULL)",
    "DELETE FROM parameter WHERE setting NOT IN (SELECT id FROM setting)",
    "DELETE FROM plugin_set WHERE id NOT IN (SELECT plugin_set FROM attempt WHERE plugin_set IS NOT NULL)",
    "DELETE FROM plugin_of_set WHERE plugin_set NOT IN (SELECT id FROM plugin_set)",
    "DELETE FROM tag WHERE experiment = ?1",
    "DELETE FROM note WHERE experiment = ?1",
    "DELETE FROM experiment WHERE id = ?1",
};

/// Adds the trials' checkpoints, also those that killed runs left without an attempt. `trials` is SQL that selects the ids.
void add_checkpoints(SQLite::Database& database, const std::filesystem::path& file, const std::string& trials,
                     std::vector<ArtifactFile>& files) {
  std::erase_if(files, [](const ArtifactFile& one) { return one.kind == kCheckpoints; });
  std::set<std::string> keys;
  Statement ask(database, "SELECT key FROM trial WHERE id IN (" + trials + ")");
  while (ask.executeStep()) keys.insert(ask.getColumn(0).getString());
  const auto checkpoints = checkpoints_of(file, keys);
  files.insert(files.end(), checkpoints.begin(), checkpoints.end());
}

}  // namespace

void rename_experiment(const std::filesystem::path& file, const std::string& from, const std::string& to) {
  if (const auto why = name_refusal(to); !why.empty())
    throw Error(fmt::format("the new name of {} {}, expected a name that a study may have", from, why));
  change(file, from, [&](SQLite::Database& database, std::int64_t experiment) {
    if (find_experiment(database, to) != 0)
      throw Error(fmt::format("{} has an experiment \"{}\" already; give another name", file.string(), to));
    Statement put(database, "UPDATE experiment SET name = ? WHERE id = ?");
    execute(put, to, experiment);
  });
}

void tag_experiment(const std::filesystem::path& file, const std::string& name, const std::vector<std::string>& tags) {
  for (const auto& tag : tags) expect_tag(tag);
  change(file, name, [&](SQLite::Database& database, std::int64_t experiment) {
    Statement put(database, "INSERT INTO tag (experiment, tag) VALUES (?, ?) ON CONFLICT DO NOTHING");
    for (const auto& tag : tags) execute(put, experiment, tag);
  });
}

void untag_experiment(const std::filesystem::path& file, const std::string& name, const std::vector<std::string>& tags) {
  change(file, name, [&](SQLite::Database& database, std::int64_t experiment) {
    const auto known = tags_of(database, experiment);
    Statement forget(database, "DELETE FROM tag WHERE experiment = ? AND tag = ?");
    for (const auto& tag : tags) {
      if (std::find(known.begin(), known.end(), tag) == known.end())
        throw Error(fmt::format("{} has no tag \"{}\"{}", name, tag, hint(tag, known)));
      execute(forget, experiment, tag);
    }
  });
}

void note_experiment(const std::filesystem::path& file, const std::string& name, const std::string& text,
                     std::int64_t written_us) {
  change(file, name, [&](SQLite::Database& database, std::int64_t experiment) {
    Statement put(database, "INSERT INTO note (experiment, written_us, text) VALUES (?, ?, ?)");
    execute(put, experiment, written_us, text);
  });
}

Deletion deletion_of(const Reader& reader, const std::string& name) {
  return guarded(reader.file(), [&] {
    const auto experiment = reader.experiment(name);
    auto found = deletion_of(reader.database(), experiment);
    std::string own = kOwn;
    for (std::size_t at = 0; (at = own.find("?1", at)) != std::string::npos;) own.replace(at, 2, std::to_string(experiment));
    const auto attempts = fmt::format("IN (SELECT id FROM attempt WHERE trial IN ({}))", own);
    auto files = artifacts_of(reader.database(), attempts);
    add_checkpoints(reader.database(), reader.file(), own, files);
    found.files = files_there(reader.file(), files);
    return found;
  });
}

void expect_not_running(const Deletion& deletion, const std::string& name, bool believes_gone) {
  for (const auto& [host, process, is_here, trials] : deletion.running) {
    const auto found = fmt::format("{} cannot be deleted: found process {}{}, which runs {} of its trials", name, process,
                                   is_here ? "" : " on " + host, trials);
    if (is_here) throw Error(found + "; end it first, or wait for its end");
    if (!believes_gone)
      throw Error(found + ", unless it has ended, which this machine cannot check; if it has ended, add --yes");
  }
}

KeptFiles delete_experiment(const std::filesystem::path& file, const std::string& name, const Deletion& expected,
                            bool believes_gone, const std::filesystem::path& backup) {
  back_up(file, backup);
  std::vector<ArtifactFile> files;
  change(file, name, [&](SQLite::Database& database, std::int64_t experiment) {
    const auto now = deletion_of(database, experiment);
    expect_not_running(now, name, believes_gone);
    const auto all = [](const Deletion& one) { return std::tie(one.trials, one.attempts, one.last_attempt, one.shared); };
    if (all(now) != all(expected))
      throw Error(fmt::format("nothing was deleted: {} has changed meanwhile; run the command again", name));
    run(database, "CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)", 0);
    run(database, "CREATE TEMP TABLE gone_attempt (id INTEGER PRIMARY KEY)", 0);
    run(database, std::string("INSERT INTO gone ") + kOwn, experiment);
    run(database, "INSERT INTO gone_attempt SELECT id FROM attempt WHERE trial IN gone", 0);
    files = artifacts_of(database, "IN temp.gone_attempt");
    add_checkpoints(database, file, "SELECT id FROM gone", files);
    for (const auto* sql : kDeletes) run(database, sql, experiment);
  });
  return remove_files(file, files);
}

}  // namespace ablate::db
