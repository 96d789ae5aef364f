// What the migrations to schemas 21 and 22 keep: shared settings and plugins, floors.
#include <fmt/format.h>

#include "db/history/migrations.h"
#include "tests/db/old_file.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("in a file of before trials that differ in the seed alone come to share their settings, and attempts their plugins") {
  Folder folder;
  const auto file = folder / "old.db";
  // A seed more of trial 2, another setting, and a trial of before there were settings.
  write_old(
      file, "schema7.sql",
      "INSERT INTO trial SELECT id + 10, key || 'b', configuration + 1 FROM trial WHERE id = 2;"
      "INSERT INTO trial SELECT id + 20, key || 'c', configuration + 2 FROM trial WHERE id = 2;"
      "INSERT INTO trial SELECT id + 30, key || 'd', configuration + 3 FROM trial WHERE id = 2;"
      "INSERT INTO value (id, path, type, text, number) SELECT 1000, id, 'integer', '77', 77 FROM path WHERE name = 'seed';"
      "INSERT INTO parameter SELECT path, trial + 10, CASE WHEN path = (SELECT id FROM path WHERE name = 'seed') THEN 1000 "
      "ELSE value END FROM parameter WHERE trial = 2;"
      "INSERT INTO parameter SELECT path, trial + 20, value FROM parameter WHERE trial = 2 AND path <> (SELECT id FROM path "
      "WHERE name = 'train.batch');");
  const auto text = [&](const std::string& sql) { return SQLite::Database(file.string()).execAndGet(sql).getString(); };
  const auto all = [&](const std::string& parameters, const std::string& results, const std::string& plugins) {
    return text(
        fmt::format("SELECT (SELECT group_concat(trial || path || text || ifnull(number, '-') || x'0a', '') FROM (SELECT * "
                    "FROM {} WHERE trial "
                    "< 33 ORDER BY trial, path)) || (SELECT group_concat(attempt || metric || ifnull(value, '-') || x'0a', '') "
                    "FROM (SELECT * "
                    "FROM {} ORDER BY attempt, metric)) || (SELECT group_concat(attempt || kind || plugin || code_identity || "
                    "x'0a', '') FROM "
                    "(SELECT * FROM {} ORDER BY attempt, kind, plugin))",
                    parameters, results, plugins));
  };
  const auto before = all(
      "(SELECT p.trial, n.name AS path, v.text, v.number FROM parameter p JOIN path n ON n.id = p.path JOIN value v ON v.id = "
      "p.value)",
      "(SELECT r.attempt, m.name AS metric, r.value FROM result r JOIN metric m ON m.id = r.metric)",
      "(SELECT u.attempt, p.kind, p.name AS plugin, p.code_identity FROM attempt_plugin u JOIN plugin p ON p.id = u.plugin)");
  CHECK(has(before, "12seed7777\n"));
  const auto of_trial_2 = resolved_of(file, 2);
  Store store(file);
  CHECK(all("parameters", "metrics", "plugins") == before);
  CHECK(number(file, "SELECT setting = (SELECT setting FROM trial WHERE id = 12) FROM trial WHERE id = 2") == 1);
  CHECK(number(file, "SELECT setting = (SELECT setting FROM trial WHERE id = 22) FROM trial WHERE id = 2") == 0);
  CHECK(number(file, "SELECT count(*) FROM trial t JOIN setting s ON s.id = t.setting") ==
        number(file, "SELECT count(*) FROM trial"));
  CHECK(number(file, "SELECT count(*) FROM pragma_foreign_key_check") == 0);

  // What is written now finds what was shared then.
  const auto settings = number(file, "SELECT count(*) FROM setting"), sets = number(file, "SELECT count(*) FROM plugin_set");
  auto another = of_trial_2;
  another["seed"] = 78;
  const auto experiment = store.put_experiment({"more", "", "", "", {}});
  store.put_trials(experiment, {{key_of(another), another}});
  CHECK(number(file, "SELECT count(*) FROM setting") == settings);
  auto attempt = done(another, 50);
  SQLite::Database database(file.string());
  SQLite::Statement ask(database,
                        "SELECT kind, plugin, version, code_identity, content_hash, path, verdict, failed_checks FROM plugins "
                        "WHERE attempt = 2 ORDER BY plugin DESC");
  while (ask.executeStep()) {
    const auto field = [&](int column) { return ask.getColumn(column).getString(); };
    attempt.plugins.push_back({field(0), field(1), field(2), field(3), field(4), field(5), {field(6), field(7)}});
  }
  store.put_attempt(attempt);
  CHECK(number(file, "SELECT count(*) FROM plugin_set") == sets);
  attempt.plugins.front().verdict = {"failed", "causal"};
  store.put_attempt(attempt);
  CHECK(number(file, "SELECT count(*) FROM plugin_set") == sets + 1);
  another["train"]["batch"] = 12345;
  store.put_trials(experiment, {{key_of(another), another}});
  CHECK(number(file, "SELECT count(*) FROM setting") == settings + 1);
}

TEST_CASE("floors of before are those of the whole training split") {
  Folder folder;
  const auto file = folder / "old.db";
  write_old(file, "schema7.sql");
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    for (int version = 7; version < 21; ++version) migrate_from(version, database);
    database.exec(
        "INSERT INTO floor (digest, task, test_rows, version, found_s, metric, examples, train_size, floors, left_out) VALUES "
        "('d', '{\"plugin\":\"image\"}', 400, 1, 7, 'test/accuracy', 390, 1000, '[{\"name\":\"counts\",\"value\":3}]', "
        "'[\"bag\"]'), ('e', '{\"plugin\":\"image\"}', 0, 1, 8, 'test/accuracy', 390, 1000, '[]', '[]'); PRAGMA user_version = "
        "21");
  }
  Store store(file);
  CHECK(number(file, "SELECT count(*) FROM floors") == 2);
  const nlohmann::json task = {{"plugin", "image"}};
  CHECK_FALSE(store.floors("d", task, {.test = 400, .train = 999, .lanes = 10}));
  const auto known = store.floors("d", task, {.test = 400});
  REQUIRE(known);
  CHECK((known->rows == ExampleRows{.test = 400}));
  CHECK(known->seen == 1000);
  CHECK(known->train_size == 1000);
  CHECK(known->examples == 390);
  CHECK(known->found_s == 7);
  CHECK(known->floors.dump() == R"([{"name":"counts","value":3}])");
  CHECK(known->left_out == std::vector<std::string>{"bag"});
  CHECK(store.floors("e", task, {})->found_s == 8);
}
