#include "db/history/proofs.h"

#include <fmt/format.h>

#include "db/history/lineage.h"
#include "db/history/reader.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/history/trial_writer.h"

namespace ablate::db {

using SQLite::Statement;

std::int64_t put_proof(SQLite::Database& database, const Proof& proof) {
  Statement put(database, "INSERT INTO proof (proven_us, before, now, environment) VALUES (?, ?, ?, ?)");
  execute(put, proof.proven_us, json_text(proof.before), json_text(proof.now),
          put_text(database, "environment", json_text(proof.environment)));
  const auto id = database.getLastInsertRowid();
  Statement replayed(database, "INSERT INTO proof_attempt (proof, attempt) VALUES (?, ?)");
  for (const auto attempt : proof.attempts) execute(replayed, id, attempt);
  Statement put_alias(database, "INSERT INTO alias (key, trial, proof, basis) VALUES (?, ?, ?, ?)");
  for (const auto& [key, trial, basis] : proof.aliases)
    execute(put_alias, key, trial, id, put_text(database, "basis", json_text(basis)));
  return id;
}

std::int64_t delete_proof(SQLite::Database& database, std::int64_t number) {
  const auto done_by_proof = [&] {
    return database
        .execAndGet(
            "SELECT count(DISTINCT key) FROM alias l WHERE NOT EXISTS (SELECT 1 FROM trial t JOIN attempt a ON a.trial = t.id "
            "AND a.outcome = 'done' WHERE t.key = l.key)")
        .getInt64();
  };
  const auto before = done_by_proof();
  Statement proof(database, "DELETE FROM proof WHERE id = ?");
  for (const auto* sql :
       {"WITH RECURSIVE gone (key) AS (SELECT key FROM alias WHERE proof = ?1 UNION SELECT l.key FROM alias l JOIN gone ON "
        "l.rests_on = gone.key) DELETE FROM alias WHERE proof = ?1 OR rests_on IN (SELECT key FROM gone)",
        "DELETE FROM proof_attempt WHERE proof = ?1"}) {
    Statement rows(database, sql);
    execute(rows, number);
  }
  proof.bind(1, number);
  if (proof.exec() == 0)
    throw Error(fmt::format("found no proof {} in this history, {}", number,
                            database
                                .execAndGet("SELECT coalesce('expected one of ' || group_concat(id, ', '), 'which has none; "
                                            "`ablate run STUDY --prove N` makes one') FROM proof")
                                .getString()));
  return before - done_by_proof();
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
        "AND a.basis IS NOT NULL LIMIT 1"}) {
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
      "INSERT INTO experiment_trial (experiment, trial, position, listed, role, cell) SELECT experiment, ?1, position, 0, "
      "role, "
      "cell FROM experiment_trial WHERE trial = ?2 ON CONFLICT DO NOTHING");
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
        reader.leave_out("proof", ask.getColumn(2).getInt64(), "its code");
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
    SQLite::bind(ask, digits, digits + "g");  // "g" sorts after every hex digit
    std::vector<std::string> keys;
    while (ask.executeStep()) keys.push_back(ask.getColumn(0).getString());
    return keys;
  });
}

}  // namespace ablate::db
