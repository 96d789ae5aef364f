#include "db/history/proofs.h"

#include <fmt/format.h>

#include <algorithm>

#include "db/history/lineage.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/history/standing_aliases.h"
#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"
#include "db/history/views.h"

namespace ablate::db {

using SQLite::Statement;

namespace {

/// The SELECT of the view `proofs`: a connection that writes trusts no view of the file (schema.h, trust_nothing).
std::string view_of_proofs(SQLite::Database& database) {
  for (const auto& view : views(database))
    if (view.name == "proofs") return view.sql;
  throw Error("there is no view of proofs");
}

}  // namespace

std::int64_t put_proof(SQLite::Database& database, const Proof& proof) {
  Statement known(database, "SELECT 1 FROM alias WHERE key = ?");
  const auto stands = [&](const Alias& alias) { return renew(known, alias.key).executeStep(); };
  if (std::all_of(proof.aliases.begin(), proof.aliases.end(), stands)) return 0;
  Statement put(database, "INSERT INTO proof (proven_us, before, now, environment) VALUES (?, ?, ?, ?)");
  execute(put, proof.proven_us, json_text(proof.before), json_text(proof.now),
          put_text(database, "environment", json_text(proof.environment)));
  const auto id = database.getLastInsertRowid();
  Statement replayed(database, "INSERT INTO proof_attempt (proof, attempt) VALUES (?, ?)");
  for (const auto attempt : proof.attempts) execute(replayed, id, attempt);
  Statement put_alias(
      database,
      "INSERT INTO alias (key, trial, proof, basis, rests_on, added) VALUES (?, ?, ?, ?, nullif(?, ''), nullif(?, '{}')) ON "
      "CONFLICT DO NOTHING");
  std::map<std::string, std::int64_t> bases;
  for (const auto& [key, trial, basis, rests_on, added] : proof.aliases) {
    const auto text = json_text(basis);
    const auto [at, fresh] = bases.try_emplace(text, 0);
    if (fresh) at->second = put_text(database, "basis", text);
    execute(put_alias, key, trial, id, at->second, rests_on, json_text(added));
  }
  return id;
}

Withdrawn withdraw_proof(SQLite::Database& database, std::int64_t number) {
  Statement all(database, "SELECT proof, proven, plugins, attempts, trials, withdrawn FROM (" + view_of_proofs(database) +
                              ") ORDER BY proof");
  std::string lines;
  bool stands = false;
  while (all.executeStep()) {
    const bool withdrawn = !all.getColumn(5).isNull();
    stands = stands || (!withdrawn && all.getColumn(0).getInt64() == number);
    lines += fmt::format("\n  proof {} of {}: {}, by attempt{} {} repeated: {}", all.getColumn(0).getInt64(),
                         all.getColumn(1).getString(), all.getColumn(2).getString(),
                         all.getColumn(3).getString().find(',') == std::string::npos ? "" : "s", all.getColumn(3).getString(),
                         withdrawn ? "withdrawn" : fmt::format("{} of the history's trials", all.getColumn(4).getInt64()));
  }
  if (!stands)
    throw Error(fmt::format("no proof {} stands in this history: {}", number,
                            lines.empty() ? "it has none; `ablate run STUDY --prove N` makes one" : "its proofs are" + lines));
  Statement mark(database,
                 "UPDATE proof SET withdrawn_us = CAST((julianday('now') - 2440587.5) * 86400e6 AS INTEGER) WHERE id = ?");
  execute(mark, number);
  Statement gone(
      database,
      "CREATE TEMP TABLE gone AS WITH RECURSIVE gone (key) AS (SELECT key FROM alias WHERE proof = " + std::to_string(number) +
          " UNION SELECT a.key FROM alias a JOIN gone g ON a.rests_on = g.key) SELECT a.key, a.proof FROM alias a "
          "JOIN gone USING (key)");
  gone.exec();
  database.exec("DELETE FROM alias WHERE key IN (SELECT key FROM gone)");
  settle_aliases(database);
  // What has run under such a key stays done, and so does what another proof gives as well.
  Statement count(database,
                  "SELECT g.proof, count(*) FROM gone g WHERE NOT EXISTS (SELECT 1 FROM alias a WHERE a.key = g.key) AND NOT "
                  "EXISTS (SELECT 1 FROM trial t JOIN attempt a ON a.trial = t.id AND a.outcome = 'done' WHERE t.key = g.key) "
                  "GROUP BY g.proof");
  Withdrawn withdrawn;
  while (count.executeStep()) {
    const auto trials = static_cast<std::size_t>(count.getColumn(1).getInt64());
    if (const auto proof = count.getColumn(0).getInt64(); proof == number)
      withdrawn.trials = trials;
    else
      withdrawn.resting[proof] = trials;
  }
  count.reset();
  database.exec("DROP TABLE temp.gone");
  return withdrawn;
}

std::int64_t own_trial(SQLite::Database& database, const std::string& key) {
  Statement own(database, "SELECT id FROM trial WHERE key = ?");
  if (const auto known = number_from(own, key); known != 0) return known;
  Statement alias(database, "SELECT trial FROM alias WHERE key = ?");
  const auto other = number_from(alias, key);
  if (other == 0) return 0;
  Statement add(
      database,
      "INSERT INTO trial (key, configuration, setting, seed) SELECT ?, configuration, setting, seed FROM trial WHERE id = ?");
  execute(add, key, other);
  const auto made = database.getLastInsertRowid();
  for (const auto* copy :
       {"INSERT INTO resolved (trial, json) SELECT ?1, json FROM resolved WHERE trial = ?2",
        "INSERT INTO key_part (trial, basis, settings_hash, settings) SELECT ?1, a.basis, k.settings_hash, "
        "k.settings FROM key_part k JOIN trial t ON t.id = ?1 JOIN alias a ON a.key = t.key WHERE k.trial = ?2 "
        "AND a.basis IS NOT NULL"}) {
    Statement statement(database, copy);
    execute(statement, made, other);
  }
  return made;
}

void put_in_place(SQLite::Database& database, const std::string& key, std::int64_t trial, bool done) {
  Statement alias(database, "SELECT trial FROM alias WHERE key = ?");
  const auto other = number_from(alias, key);
  if (other == 0) return;
  const auto change = [&](const char* sql) {
    Statement statement(database, sql);
    execute(statement, trial, other);
  };
  change(
      "INSERT INTO experiment_trial (experiment, trial, position, listed, cell) SELECT experiment, ?1, position, 0, cell FROM "
      "experiment_trial WHERE trial = ?2 ON CONFLICT DO NOTHING");
  if (!done) return;
  change(
      "UPDATE experiment_trial SET listed = 1 WHERE trial = ?1 AND experiment IN (SELECT experiment FROM experiment_trial "
      "WHERE trial = ?2 AND listed)");
  change("UPDATE experiment_trial SET listed = 0 WHERE trial = ?2 AND ?1 <> ?2");
  change(
      "INSERT INTO published_value (experiment, metric, trial, value, source) SELECT experiment, metric, ?1, value, source "
      "FROM published_value WHERE trial = ?2 ON CONFLICT DO NOTHING");
}

ProvenKeys proven_keys(const Reader& reader, std::int64_t trial) {
  return guarded(reader.file(), [&] {
    ProvenKeys proven;
    Statement ask(
        reader.database(),
        "SELECT a.key, p.now, p.id FROM alias a JOIN proof p ON p.id = a.proof WHERE a.trial = ? ORDER BY p.proven_us, "
        "p.id");
    ask.bind(1, trial);
    while (ask.executeStep()) {
      proven.latest = ask.getColumn(0).getString();
      const auto now = stored_json(ask.getColumn(1).getString());
      const auto codes = now.is_object() ? now.find("plugins") : now.end();
      if (codes == now.end() || !codes->is_array()) {
        reader.leave_out("proof", ask.getColumn(2).getInt64(), "what code it is of");
        continue;
      }
      for (const auto& code : *codes)
        if (code.is_string()) proven.code_now.insert(code);
    }
    return proven;
  });
}

std::vector<std::string> proven_for(const Reader& reader, const std::string& digits) {
  return guarded(reader.file(), [&] {
    Statement ask(reader.database(),
                  "SELECT key FROM alias WHERE trial IN (SELECT id FROM trial WHERE key >= ?1 AND key < ?2 UNION "
                  "SELECT trial FROM alias WHERE key >= ?1 AND key < ?2)");
    SQLite::bind(ask, digits, digits + "g");  // behind all hex digits
    std::vector<std::string> keys;
    while (ask.executeStep()) keys.push_back(ask.getColumn(0).getString());
    return keys;
  });
}

}  // namespace ablate::db
