// Histories that earlier schemas wrote.
#include <cmath>
#include <nlohmann/json.hpp>

#include "db/history/migrations.h"
#include "db/history/schema.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/questions/attempts/show_attempt.h"
#include "db/questions/tables/make_table.h"
#include "tests/db/old_file.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

using Labels = std::vector<std::vector<std::string>>;

}  // namespace

TEST_CASE("a file of schema 2 is brought up to date with all that it holds") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema2.sql");
  CHECK(has(error_of([&] { Reader reader(file); }), "found schema 2, expected " + std::to_string(schema_version())));
  Store store(file);
  CHECK(store.done({"a1b2c3d4", "e5f6a7b8"}) == std::set<std::string>{"a1b2c3d4"});
  const Reader reader(file);
  const auto run = show_attempt(reader, "1");
  CHECK(run["results"][0]["value"] == 81.5);
  CHECK(run["curves"]["train/loss"].dump() == "[[10,1.5]]");
  CHECK(run["plugins"][0]["id"] == "softmax");
  CHECK(run["plugins"][0]["verdict"] == "unchecked");  // schema 6
  CHECK(run["plugins"][0]["failed_checks"] == "");
  CHECK(run["output"] == "all well");
  CHECK(show_attempt(reader, "2")["reason"] == "signal 11");
  CHECK(list_attempts(reader, {"old study"}).total == 2);
  CHECK(SQLite::Database(file.string())
            .execAndGet("SELECT \"test/accuracy\" FROM trials WHERE attention = 'softmax'")
            .getDouble() == 81.5);
  CHECK(number(file, "SELECT count(*) FROM sqlite_master WHERE type = 'view' AND name = 'runs'") == 0);  // trials, since
}

TEST_CASE("in a file of schema 3 a compression becomes a parameter of its attention") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema3.sql");
  const auto before = resolved_of(file, 2);
  { Store store(file); }
  const auto table = make_table(Reader(file), {{"old mixtures"}, {"attention", "attention.compression"}, {}, {}});
  CHECK(table.rows == Labels{{"softmax", "-"}, {"compressed", "rbf"}, {"compressed", "segment-mean"}});
  CHECK(table.metrics.at(0).name == "test/accuracy");
  for (std::size_t row = 0; row < 3; ++row) CHECK(table.cell(row, 0, 0).mean == 50);
  const auto parameters = show_attempt(Reader(file), "2")["parameters"];
  CHECK(parameters["attention.compression"] == "rbf");
  CHECK_FALSE(parameters.contains("compression"));
  for (const auto& [name, value] : before["compression"].items())
    if (name != "plugin") CHECK(parameters.contains("attention.compression." + name));
  CHECK(number(file, "SELECT count(*) FROM path WHERE name LIKE 'compression%'") == 0);
  CHECK(number(file, "SELECT count(*) FROM trials WHERE \"attention.compression\" = 'rbf'") == 1);
  CHECK(number(file, "SELECT count(*) FROM attempt a JOIN metric m ON m.id = a.main_metric WHERE m.name = 'test/accuracy'") ==
        3);

  auto after = before;
  after["attention"]["compression"] = before["compression"];
  after.erase("compression");
  CHECK(resolved_of(file, 2) == after);
  {
    Store store(file);  // the same settings, under the key of the release after
    const auto id = store.put_experiment({{"old mixtures"}, "", "", "", {}});
    store.put_trials(id, {{"0123456789abcdef", after}});
  }
  CHECK(make_table(Reader(file), {{}, {"attention.compression"}, {}, {}}).notes.at(0) ==
        "1 earlier trial is left out: the same settings were asked for again after a plugin, the data or ablate changed");
}

TEST_CASE("a file of schema 3 that has both spellings keeps the values of both") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema3.sql",
            "INSERT INTO path (id, name) VALUES (1000, 'attention.compression');"
            "INSERT INTO value (id, path, type, text) VALUES (1000, 1000, 'text', 'rbf'), (1001, 1000, 'text', 'mine');"
            "INSERT INTO parameter (path, trial, value) VALUES (1000, 1, 1001);");
  { Store store(file); }
  const auto table = make_table(Reader(file), {{"old mixtures"}, {"attention.compression"}, {}, {}});
  CHECK(table.rows == Labels{{"mine"}, {"rbf"}, {"segment-mean"}});
  CHECK(number(file, "SELECT count(*) FROM pragma_foreign_key_check") == 0);
}

TEST_CASE("in a file of schema 3 a metric says what it is, whose, and whether it is of steps' times") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema3.sql",
            "INSERT INTO metric VALUES (100, 'attention/adamra/kept', 'tokens', '', ''), (101, 'test/delay', 's', 'min', ''), "
            "(102, 'test/depth', '', '', '');");
  { Store store(file); }
  const Reader reader(file);
  std::map<std::string, std::string> known;
  for (const auto& metric : reader.metrics()) {
    const nlohmann::json said = metric;
    known[said["kind"].get<std::string>() + " of " + said["owner"].get<std::string>()] += metric.name + " ";
    if (metric.of_steps) known["of steps"] += metric.name + " ";
  }
  const std::string times = "train/examples_per_second train/forward_backward_time train/forward_time train/step_cpu_time ";
  CHECK(known == std::map<std::string, std::string>{
                     {"score of task", "dev/accuracy dev/loss test/accuracy test/delay test/loss train/loss "},
                     {"count of task", "test/depth "},
                     {"count of method", "attention/adamra/kept "},
                     {"count of host", "dev/best_step model/parameters "},
                     {"cost of host", "memory/peak_resident memory/peak_tensor time/cpu time/wall " + times +
                                          "train/step_spread train/step_time "},
                     {"of steps", times + "train/step_time "}});
}

TEST_CASE("a file of schema 7 takes verdicts and audits, and keeps what it holds") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema7.sql");
  const UsedPlugin softmax{
      "attention", "softmax", "", "99e9a3d9b1f358cd6e55e36cf3f60598cb3732142b139135c9725f9fe1bb92a9", "", "", {"passed", ""}};
  {
    Store store(file);
    store.put_verdicts({{softmax, 4, 1'700'000'000}});
    store.put_audit({.digest = "d", .task = "image", .suite = 7, .verdict = "failed"});
  }
  const Reader reader(file);
  CHECK(list_attempts(reader, {"old"}).total == 3);
  CHECK(number(file, "SELECT suite FROM audits WHERE task = 'image' AND digest = 'd'") == 7);
  CHECK(show_attempt(reader, "1")["plugins"][0]["verdict"] == "unchecked");
  const auto known = reader.verdict(softmax);
  REQUIRE(known);
  CHECK(known->plugin.verdict.verdict == "passed");
  CHECK(number(file, "SELECT count(*) FROM verdicts JOIN plugins USING (kind, plugin, code_identity)") == 2);
}

TEST_CASE("in a file of schema 7 an attempt under a proven key goes to a trial of its own") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema7.sql");
  CHECK(number(file, "SELECT trial FROM attempt WHERE id = 3") == 1);
  const Store store(file);
  CHECK(number(file, "SELECT trial FROM attempt WHERE id = 3") == 3);
  CHECK(number(file, "SELECT count(*) FROM attempt WHERE id = trial") == 3);
  CHECK(number(file, "SELECT count(*) FROM trial t JOIN alias USING (key) WHERE t.id = 3 AND alias.trial = 1") == 1);
  CHECK(resolved_of(file, 3) == resolved_of(file, 1));
  CHECK(number(file, "SELECT count(*) FROM parameters WHERE trial = 3") ==
        number(file, "SELECT count(*) FROM parameters WHERE trial = 1"));
  CHECK(number(file, "SELECT group_concat(trial, '') FROM (SELECT trial FROM members WHERE listed ORDER BY trial)") == 23);
  CHECK(number(file, "SELECT trials FROM proofs") == 2);
}

TEST_CASE("a proof is withdrawn by its number; another number is told which there are") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema7.sql");
  Store store(file);
  const auto told = [&](std::int64_t number) {
    try {
      store.withdraw_proof(number);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(told(7).find("no proof 7 stands in this history: its proofs are\n  proof 1 of 2") == 0);
  CHECK(store.withdraw_proof(1).trials == 1);  // of 2: the other one has run under its new key
  CHECK(told(1).ends_with("repeated: withdrawn"));
}

TEST_CASE("a file of before takes plugins of any kind, and keeps what it has of those that it had") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema7.sql", "UPDATE attempt_plugin SET verdict = 'failed', failed_checks = 'causal' WHERE attempt = 2;");
  const auto all = [&](const std::string& uses) {
    return SQLite::Database(file.string())
        .execAndGet(
            "SELECT (SELECT group_concat(id || kind || name || version || code_identity || content_hash || path) FROM "
            "(SELECT * FROM plugin ORDER BY id)) || (SELECT group_concat(attempt || ' ' || plugin || verdict || "
            "failed_checks) FROM (SELECT * FROM " +
            uses + " ORDER BY attempt, plugin))")
        .getString();
  };
  const auto before = all("attempt_plugin");
  CHECK(before.find("2 1failedcausal") != std::string::npos);
  { const Store store(file); }
  CHECK(all("(SELECT a.id AS attempt, u.* FROM attempt a JOIN plugin_of_set u USING (plugin_set))") == before);
  CHECK(number(file, "SELECT count(*) FROM plugin_set") == 3);
  CHECK(number(file, "SELECT count(*) FROM pragma_foreign_key_check") == 0);
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  database.exec("PRAGMA foreign_keys = ON; INSERT INTO plugin VALUES (4, 'gate', 'halves', '1.0.0', 'c', 'h', '/p')");
  database.exec("INSERT INTO plugin_of_set SELECT plugin_set, 4, 'passed', '', '', 0, 0 FROM attempt WHERE id = 1");
  CHECK(number(file, "SELECT count(*) FROM plugins WHERE kind = 'gate'") == 1);
  CHECK_THROWS_AS(
      database.exec("INSERT INTO plugin_of_set SELECT plugin_set, 5, 'passed', '', '', 0, 0 FROM attempt WHERE id = 1"),
      SQLite::Exception);
}
