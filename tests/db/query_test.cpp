#include "db/questions/exports/query.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "db/history/views.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/questions/attempts/show_attempt.h"
#include "db/questions/tables/make_table.h"
#include "db/report/format.h"
#include "db/report/printers.h"
#include "tests/db/ask.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

void fill(const std::filesystem::path& file) {
  Store store(file);
  const auto a = trial("softmax", {}, 1), b = trial("adamra", {"1/8"}, 1), c = trial("linear", {}, 1);
  put(store, "study", {a, b, c});
  store.put_attempt(failed(a, "signal 11"));
  auto attempt = done(a, 60.5);
  attempt.curve = {{"train/loss", 5, 2.5}, {"train/loss", 10, 1.5}};
  store.put_attempt(attempt);
  store.put_attempt(done(b, 70));
  store.put_attempt(failed(b, "", "interrupted"));
}

}  // namespace

TEST_CASE("the views answer in every format") {
  Folder folder;
  const auto file = folder / "a.db";
  fill(file);
  // A trial that never ran has no row. A trial that is done stays done.
  const std::string sql =
      "SELECT attention, \"attention.rates\", seed, outcome, \"test/accuracy\", experiments FROM trials ORDER BY attempt";
  CHECK(ask(file, sql) ==
        "attention,attention.rates,seed,outcome,test/accuracy,experiments\n"
        "softmax,,1,done,60.5,study\nadamra,1/8,1,done,70,study\n");
  CHECK(ask(file, "SELECT 1 AS a, 'x|y' AS b", Format::kText) == "a  b\n1  x|y\n");
  CHECK(ask(file, "SELECT 0.1 + 0.2 AS a", Format::kText) == "a\n0.3\n");
  CHECK(ask(file, "SELECT 0.1 + 0.2 AS a", Format::kCsv) == "a\n0.30000000000000004\n");
  CHECK(ask(file, "SELECT 'x|y' AS b", Format::kMarkdown) == "| b |\n| --- |\n| x\\|y |\n");
  CHECK(ask(file, "SELECT '<b> *x* _y_ a_b `c` [l](u) R&D & e ~z~ e\\' AS \"*\"", Format::kMarkdown) ==
        "| \\* |\n| --- |\n| \\<b> \\*x\\* \\_y\\_ a_b \\`c\\` \\[l](u) R\\&D & e \\~z\\~ e\\\\ |\n");
  const auto json = nlohmann::json::parse(ask(file, sql, Format::kJson));
  CHECK(json.size() == 2);
  CHECK(json[0]["attention.rates"].is_null());
  CHECK(json[0]["seed"] == 1);
  CHECK(json[1]["test/accuracy"] == 70.0);
  CHECK(nlohmann::json::parse(ask(file, "SELECT 1 WHERE 0", Format::kJson)).empty());

  CHECK(ask(file, "SELECT outcome, count(*) AS n FROM attempts GROUP BY outcome") ==
        "outcome,n\ndone,2\nfailed,1\ninterrupted,1\n");
  CHECK(ask(file, "SELECT experiment, attempt, metric, step, value FROM curves") ==
        "experiment,attempt,metric,step,value\nstudy,2,train/loss,5,2.5\nstudy,2,train/loss,10,1.5\n");
  CHECK(ask(file, "SELECT text, number FROM parameters WHERE path = 'attention.rates'") == "text,number\n1/8,0.125\n");
  CHECK(ask(file, "SELECT value, unit FROM metrics WHERE metric = 'test/accuracy' ORDER BY attempt") ==
        "value,unit\n60.5,%\n70,%\n");
  CHECK(ask(file, "SELECT trials FROM experiments") == "trials\n3\n");
  CHECK(ask(file, "SELECT attention FROM trials JOIN members USING (trial) WHERE experiment = 'study' ORDER BY position") ==
        "attention\nsoftmax\nadamra\n");
  CHECK(ask(file, "SELECT environment ->> '$.host' AS host FROM attempts LIMIT 1") == "host\nhere\n");
  // Every view can be read completely.
  const Reader reader(file);
  for (const auto& view : views(reader.database())) {
    const auto text = ask(file, "SELECT * FROM " + quoted(view.name));
    CHECK(text.substr(0, text.find('\n') + 1) == csv_line(view.columns));
    CHECK(has(list_views(file), view.name + ": "));
    CHECK(has(list_views(file, Format::kCsv), csv_line({view.name, view.columns.front(), view.about})));
    CHECK(has(list_views(file, Format::kMarkdown), "| " + view.name + " | " + view.columns.front() + " | "));
  }
}

TEST_CASE("names with quotes are columns like others") {
  Folder folder;
  const auto file = folder / "a.db";
  {
    Store store(file);
    put(store, "study", {{{"we\"ird'; DROP TABLE trial; --", 5}}});
    store.put_attempt(done({{"we\"ird'; DROP TABLE trial; --", 5}}, 1));
  }
  CHECK(ask(file, "SELECT \"we\"\"ird'; DROP TABLE trial; --\" AS x FROM trials") == "x\n5\n");
}

TEST_CASE("the views are in the file, and are always up to date") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  // The connection of another program, which stays open.
  SQLite::Database other(file.string(), SQLite::OPEN_READONLY);
  const auto columns = [&](const char* like) {
    return other
        .execAndGet(std::string("SELECT coalesce(group_concat(name), '') FROM pragma_table_info('trials') WHERE name LIKE '") +
                    like + "'")
        .getString();
  };
  CHECK(other.execAndGet("SELECT count(*) FROM trials").getInt() == 0);
  const auto a = trial("softmax", {}, 1), b = trial("adamra", {"1/8"}, 2);
  put(store, "study", {a});
  CHECK(columns("attention%") == "attention");
  CHECK(columns("test%") == "test/accuracy");
  put(store, "study", {a, b});  // adds a path
  CHECK(columns("attention%") == "attention,attention.rates");
  auto attempt = done(b, 70);
  attempt.results["attention/adamra/kept"] = 0.5;  // adds a metric
  attempt.step = attempt.steps = 20;
  store.put_attempt(attempt);
  CHECK(columns("attention/%") == "attention/adamra/kept");
  CHECK(other.execAndGet("SELECT \"attention/adamra/kept\" FROM trials WHERE seed = 2 AND steps = 20").getDouble() == 0.5);
  // Without new names, no view is written.
  const auto version = other.execAndGet("PRAGMA schema_version").getInt();
  store.put_attempt(done(a, 60));
  put(store, "study", {a, b});
  CHECK(other.execAndGet("PRAGMA schema_version").getInt() == version);
  // A call that fails leaves the views unchanged.
  attempt = done(a, 1);
  attempt.results["extra/new"] = 1;
  attempt.plugins = {{"task", "x", "1", "c", "h", "p", {"no such verdict", ""}}};
  CHECK_FALSE(error_of([&] { store.put_attempt(attempt); }).empty());
  CHECK(columns("extra%") == "");
}

TEST_CASE("columns with names that are already used get other names") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const nlohmann::json odd = {{"outcome", "o"}, {"Attempt", 7}, {"x", 1}, {"X", 2}, {std::string("nul\0l", 5), 3}, {"", 4}};
  put(store, "study", {odd});
  auto attempt = done(odd, 60);
  attempt.results["x"] = 0.25;
  store.put_attempt(attempt);
  CHECK(ask(file,
            "SELECT outcome, \"outcome (parameter)\", attempt, \"Attempt (parameter)\", x, \"X (parameter)\", \"x (metric)\", "
            "\"\" FROM "
            "trials") ==
        "outcome,outcome (parameter),attempt,Attempt (parameter),x,X (parameter),x (metric),\n"
        "done,o,1,7,1,2,0.25,4\n");
  CHECK(ask(file, "SELECT count(*) AS n FROM parameters") == "n\n6\n");
}

TEST_CASE("the host's own metrics always have their columns") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const nlohmann::json trial = {{"x", 1}};
  put(store, "study", {trial});
  auto attempt = done(trial, 60);
  attempt.results["dev/Best_step"] = 7;
  store.put_attempt(attempt);
  attempt.results["dev/best_step"] = 3;
  attempt.results["DEV/best_step"] = 8;
  store.put_attempt(attempt);
  CHECK(ask(file, "SELECT \"dev/best_step\", \"dev/Best_step (metric)\", \"DEV/best_step (metric) (metric)\" FROM trials") ==
        "dev/best_step,dev/Best_step (metric),DEV/best_step (metric) (metric)\n3,7,8\n");
}

TEST_CASE("a history may have more names than a view can have columns") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  nlohmann::json many;
  for (int i = 0; i < 2500; ++i) many["train"]["p" + std::to_string(i)] = i;
  put(store, "study", {many});
  store.put_attempt(done(many, 60));
  CHECK(ask(file, "SELECT \"train.p0\" AS a FROM trials") == "a\n0\n");
  CHECK(ask(file, "SELECT count(*) AS n FROM parameters") == "n\n2500\n");
}

TEST_CASE("no SQL query can write") {
  Folder folder;
  const auto file = folder / "a.db";
  fill(file);
  const auto before = content(file);
  const auto made = folder / "made.db";
  const std::string statements[] = {
      "INSERT INTO trial (key, configuration) VALUES ('x', 1)",
      "UPDATE attempt SET outcome = 'done'",
      "DELETE FROM result",
      "REPLACE INTO trial (id, key, configuration) VALUES (1, 'x', 1)",
      "CREATE TABLE mine (a)",
      "CREATE TEMP TABLE mine (a)",
      "CREATE TEMP VIEW mine AS SELECT 1",
      "CREATE INDEX mine ON trial (configuration)",
      "CREATE TRIGGER mine AFTER INSERT ON trial BEGIN SELECT 1; END",
      "DROP TABLE curve",
      "DROP VIEW trials",
      "ALTER TABLE trial RENAME TO other",
      "ATTACH '" + made.string() + "' AS made",
      "DETACH main",
      "VACUUM",
      "VACUUM INTO '" + made.string() + "'",
      "PRAGMA journal_mode = DELETE",
      "PRAGMA user_version = 7",
      "PRAGMA writable_schema = 1",
      "PRAGMA query_only",
      "WITH a AS (SELECT 'x' AS k) INSERT INTO trial (key, configuration) SELECT k, 1 FROM a",
      "EXPLAIN DELETE FROM result",
      "BEGIN IMMEDIATE",
      "COMMIT",
      "SAVEPOINT a",
      "REINDEX",
      "ANALYZE",
      "SELECT load_extension('/tmp/x.so')",
      "SELECT 1; DELETE FROM result",
      "SELECT 1; SELECT 2",
      "DELETE FROM result RETURNING attempt",
      "SELECT * FROM pragma_journal_mode('delete')",
  };
  for (const auto& sql : statements) {
    INFO(sql);
    const auto message = error_of([&] { ask(file, sql); });
    CHECK(has(message, "only reads"));
    CHECK(has(message, "expected one SELECT"));
  }
  CHECK(content(file) == before);
  CHECK_FALSE(std::filesystem::exists(made));
  CHECK(has(error_of([&] { ask(file, "DELETE FROM result"); }), "DELETE result"));
  CHECK(has(error_of([&] { ask(file, "SELECT 1; SELECT 2"); }), "second statement"));
  // Statements that only read are never refused.
  CHECK(ask(file, "SELECT 1 AS a; -- the end\n ;") == "a\n1\n");
  CHECK(ask(file, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT sum(i) AS s FROM n") ==
        "s\n6\n");
}

TEST_CASE("invalid SQL is refused with an explanation") {
  Folder folder;
  const auto file = folder / "a.db";
  fill(file);
  CHECK(has(error_of([&] { ask(file, "SELECT \"tset/accuracy\" FROM trials"); }), "did you mean \"test/accuracy\"?"));
  CHECK(has(error_of([&] { ask(file, "SELECT attention.rates FROM trials"); }), "double quotes: \"attention.rates\""));
  for (const std::string sql : {"test/accuracy", "key, test/acuracy", "avg(test/accuracy) AS t"})
    CHECK(has(error_of([&] { ask(file, "SELECT " + sql + " FROM trials"); }), "need double quotes: \"test/accuracy\")"));
  CHECK(has(error_of([&] { ask(file, "SELECT 1 FROM trals"); }), "did you mean trials?"));
  CHECK(has(error_of([&] { ask(file, "SELECT 1 FROM runs"); }), "no such table: runs (it is called trials now)"));
  CHECK(has(error_of([&] { ask(file, "SELECT run FROM trials"); }), "no such column: run (it is called attempt now)"));
  CHECK(has(error_of([&] { ask(file, "SELEKT 1"); }), "syntax error"));
  CHECK(has(error_of([&] { ask(file, "  -- nothing"); }), "is empty"));
  CHECK(has(error_of([&] { ask(file, "SELECT seed FROM trials WHERE attention = \"softmax\""); }),
            "a text needs single quotes: 'softmax'"));
  CHECK(has(error_of([&] { ask(file, "SELECT experiment FROM trials"); }),
            "no such column: experiment in that view; the column is in curves, experiments, tags, notes, members, published"));
}

TEST_CASE("a history in a read-only folder can be read") {
  Folder folder;
  std::filesystem::create_directory(folder / "sealed");
  const auto file = folder / "sealed/a?b#c%.db";
  fill(file);
  std::filesystem::permissions(folder / "sealed", std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  const auto text = ask(file, "SELECT count(*) AS n FROM trials");
  std::filesystem::permissions(folder / "sealed", std::filesystem::perms::owner_all);
  CHECK(text == "n\n2\n");
}

TEST_CASE("an invalid format is an error, not an empty answer") {
  Folder folder;
  const auto file = folder / "a.db";
  fill(file);
  const auto none = static_cast<Format>(format_names().size());
  CHECK(
      has(error_of([&] { ask(file, "SELECT 1", none); }), "format 7 is none of text, markdown, csv, json, latex, typst, html"));
  CHECK(has(error_of([&] { to_text(Table{}, none); }), "format 7 is none of"));
}

TEST_CASE("an endless view in the place of a table is refused by all commands except a user's query") {
  Folder folder;
  const auto file = folder / "a.db";
  fill(file);
  const std::string table = GENERATE("trial", "attempt", "value", "path", "metric", "environment", "running");
  INFO(table);
  SQLite::Database crafted(file.string(), SQLite::OPEN_READWRITE);
  std::string columns;
  SQLite::Statement names(crafted, "SELECT name FROM pragma_table_info('" + table + "')");
  while (names.executeStep()) columns += ", i AS " + names.getColumn(0).getString();
  crafted.exec("PRAGMA foreign_keys = OFF; DROP TABLE " + table);
  crafted.exec("CREATE VIEW " + table + " AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT " +
               columns.substr(2) + " FROM n");
  const auto refused = [](const std::string& why) {
    INFO(why);
    CHECK(has(why, "is no run history as `ablate run` writes it"));
  };
  if (table != "environment" && table != "running") refused(error_of([&] { make_table(Reader(file), {}); }));
  if (table != "environment" && table != "metric") refused(error_of([&] { list_attempts(Reader(file), {}); }));
  if (table != "running") refused(error_of([&] { show_attempt(Reader(file), "1"); }));
  // A user's query is answered, and Ctrl-C ends it.
  if (table != "path" && table != "metric")  // these two store the names of views' columns
    CHECK(ask(file, "SELECT count(*) AS n FROM (SELECT 1 FROM " + table + " LIMIT 3)") == "n\n3\n");
}
