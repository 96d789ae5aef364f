// Rows that are deleted with an experiment, and rows that stay.
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "db/history/experiments.h"
#include "db/history/keeping.h"
#include "tests/db/ask.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

Attempt whole(const nlohmann::json& resolved, double accuracy) {
  auto attempt = done(resolved, accuracy);
  attempt.curve = {{"train/loss", 1, 3.0}, {"train/loss", 2, accuracy}};
  attempt.plugins = {{"attention", resolved["attention"]["plugin"], "1", "code", "hash", "/lib"}};
  attempt.main_metric = "test/accuracy";
  return attempt;
}

const auto kKeptOnly = trial("linear", {}, 1), kBoth = trial("softmax", {}, 1), kGone = trial("adamra", {"1/8"}, 1),
           kGoneNotRun = trial("adamra", {"1/4"}, 2);

/// Stores the experiment "kept", as in a history without the experiment "gone".
void put_kept(Store& store) {
  const auto id = put(store, "kept", {kKeptOnly, kBoth});
  store.put_published(id, {{key_of(kBoth), "test/accuracy", 50, "a paper"}});
  store.put_parts({{key_of(kBoth), {{{"seed", 1}}, {{"plugins", nlohmann::json::object()}}}}});
}

/// Stores both experiments. Rows of "gone" are before, between and after the rows of "kept".
void put_all(Store& store) {
  const auto gone = put(store, "gone", {kGone, kBoth, kGoneNotRun});
  store.put_published(gone, {{key_of(kGone), "test/accuracy", 60, "a paper"}, {key_of(kBoth), "test/accuracy", 61, "it"}});
  store.put_parts({{key_of(kGone), {{{"seed", 2}}, {{"plugins", nlohmann::json::object()}}}}});
  store.put_attempt(whole(kGone, 70));
  put_kept(store);
  store.put_attempt(whole(kBoth, 71));
  store.put_attempt(failed(kGone, "later"));
  store.put_attempt(whole(kKeptOnly, 72));
  store.put_attempt(whole(kGone, 73));
  Proof proof;
  proof.before = proof.now = {{"plugins", nlohmann::json::array()}};
  proof.attempts = {1, 2};
  proof.aliases = {{"aaaa", 1, nlohmann::json::object()}};
  store.put_proof(proof);
  store.put_running({{key_of(kGone), 1, 2, 3}});  // trials of this process do not prevent a deletion
}

/// Returns the content of all views, without the numbers that depend on deleted rows.
std::string all_of(const std::filesystem::path& file) {
  std::string all;
  for (const char* sql :
       {"SELECT experiments, key, outcome, wall_s, attention, \"attention.rates\", seed, \"test/accuracy\" FROM trials ORDER "
        "BY "
        "key",
        "SELECT key, outcome, reason, output, environment FROM attempts ORDER BY key, attempt",
        "SELECT experiment, key, metric, step, value FROM curves ORDER BY key, metric, step, value",
        "SELECT key, path, text, number FROM parameters ORDER BY key, path",
        "SELECT key, metric, value FROM metrics ORDER BY key, metric, value",
        "SELECT key, kind, plugin, code_identity FROM plugins ORDER BY key, plugin",
        "SELECT experiment, description, file, overrides, trials, tags FROM experiments ORDER BY experiment",
        "SELECT experiment, key, position, listed FROM members JOIN trial ON id = trial ORDER BY experiment, position",
        "SELECT experiment, key, metric, value, source FROM published ORDER BY experiment, key",
        "SELECT experiment, tag FROM tags UNION ALL SELECT experiment, note FROM notes",
        "SELECT hash, (SELECT count(*) FROM parameter WHERE setting = id) AS n FROM setting ORDER BY hash",
        "SELECT hash, (SELECT count(*) FROM plugin_of_set WHERE plugin_set = id) AS n FROM plugin_set ORDER BY hash",
        "SELECT key, json FROM resolved JOIN trial ON id = trial ORDER BY key",
        "SELECT key, settings FROM key_part JOIN trial ON id = trial ORDER BY key", "SELECT key FROM running"})
    all += ask(file, sql);
  return all;
}

void change(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open(file.c_str(), &database) == SQLITE_OK);
  CHECK(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(database);
}

Deletion going(const std::filesystem::path& file) { return deletion_of(Reader(file), "gone"); }

}  // namespace

TEST_CASE("after a deletion the history equals one without the experiment, and no row has a dangling reference") {
  Folder folder;
  const auto file = folder / "a.db", alone = folder / "alone.db", backup = folder / "backup.db";
  {
    Store store(file);
    put_all(store);
    Store other(alone);
    put_kept(other);
    other.put_attempt(whole(kBoth, 71));
    other.put_attempt(whole(kKeptOnly, 72));
    put(other, "shape", {kGone});  // gives the views the same columns; "shape" itself is deleted below
  }
  change(
      alone,
      "DELETE FROM experiment_trial WHERE experiment = 2; DELETE FROM resolved WHERE trial = 3; DELETE FROM trial "
      "WHERE id = 3; DELETE FROM parameter WHERE setting NOT IN (SELECT setting FROM trial); DELETE FROM setting WHERE id NOT "
      "IN (SELECT setting FROM trial); DELETE FROM experiment WHERE id = 2");
  tag_experiment(file, "gone", {"old"});
  note_experiment(file, "gone", "a note", 1);
  for (const auto& one : {file, alone}) tag_experiment(one, "kept", {"paper"});
  const auto before = all_of(file);
  const auto deletion = going(file);
  CHECK(deletion.trials == 2);
  CHECK(deletion.attempts == 3);
  CHECK(deletion.shared == 1);
  CHECK(deletion.running.empty());
  delete_experiment(file, "gone", deletion, false, backup);
  CHECK(all_of(file) == all_of(alone));
  CHECK(faults(file).empty());
  CHECK(all_of(backup) == before);
  CHECK(ask(file, "SELECT trials, attempts FROM proofs") == "trials,attempts\n0,2\n");

  Store store(file);  // the history can still be used
  put(store, "gone", {kGone});
  store.put_attempt(whole(kGone, 74));
  CHECK(store.done({key_of(kGone), "aaaa"}) == std::set<std::string>{key_of(kGone)});
  CHECK(ask(file, "SELECT \"test/accuracy\" FROM trials WHERE attention = 'adamra'") == "test/accuracy\n74\n");
  CHECK(faults(file).empty());
}

TEST_CASE("nothing is deleted if trials were added after the user was asked, or if no copy can be made") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  put_all(store);
  const auto planned = going(file);
  CHECK(has(error_of([&] { delete_experiment(file, "gone", planned, false, folder / "none" / "b.db"); }), "cannot be copied"));
  store.put_attempt(whole(kGone, 75));
  const auto before = all_of(file);
  CHECK(has(error_of([&] { delete_experiment(file, "gone", planned, false, folder / "b.db"); }), "has changed meanwhile"));
  CHECK(all_of(file) == before);
  CHECK(has(error_of([&] { delete_experiment(file, "gnoe", planned, false, folder / "c.db"); }), "did you mean gone?"));
}

TEST_CASE("an experiment that a living process runs is not deleted; processes of another host are unknown") {
  Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file);
    put_all(store);
  }
  int ready[2];
  REQUIRE(pipe(ready) == 0);
  const auto child = fork();
  if (child == 0) {
    {
      Store store(file);
      store.put_running({{key_of(kGone), 1, 2, 3}});
      static_cast<void>(!write(ready[1], "r", 1));
    }
    pause();
    _exit(0);
  }
  char byte = 0;
  REQUIRE(read(ready[0], &byte, 1) == 1);
  const auto refused = [&](bool believes_gone) {
    return error_of([&] { delete_experiment(file, "gone", going(file), believes_gone, folder / std::to_string(rand())); });
  };
  const auto running = "found process " + std::to_string(child) + ", which runs 1 of its trials; end it first";
  CHECK(has(refused(false), running));
  CHECK(has(refused(true), running));
  CHECK(has(error_of([&] { expect_not_running(going(file), "gone", true); }), running));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  change(file, "INSERT INTO running VALUES ('elsewhere', 7, 5, '" + key_of(kGone) + "', 0, 3, 9, NULL)");
  CHECK(has(refused(false), "found process 7 on elsewhere"));
  CHECK(has(refused(false), "add --yes"));
  CHECK(refused(true).empty());
  CHECK(ask(file, "SELECT experiment FROM experiments") == "experiment\nkept\n");
}
