#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <thread>

#include "core/util/flatten.h"
#include "db/history/schema.h"
#include "db/questions/attempts/list_attempts.h"
#include "db/questions/attempts/show_attempt.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

int rows(const std::filesystem::path& file, const std::string& table) {
  return SQLite::Database(file.string()).execAndGet("SELECT count(*) FROM " + table).getInt();
}

}  // namespace

TEST_CASE("flatten names each leaf by its path") {
  const auto leaves = flatten(trial("adamra", {"1/2", "1/4"}, 3));
  CHECK(leaves.size() == 7);
  CHECK(leaves.at("attention") == "adamra");
  CHECK(leaves.at("attention.rates") == "1/2,1/4");
  CHECK(leaves.at("train.learning_rate") == 0.001);
  CHECK(leaves.at("train.shuffle") == true);
  CHECK(leaves.at("seed") == 3);
}

TEST_CASE("a new file has the schema, WAL and strict tables; opening it again changes nothing") {
  Folder folder;
  const auto file = folder / "a.db";
  { Store store(file); }
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    CHECK(database.execAndGet("PRAGMA user_version").getInt() == kSchema);
    CHECK(database.execAndGet("PRAGMA journal_mode").getString() == "wal");
    CHECK(database
              .execAndGet("SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%' AND "
                          "type = 'table' AND NOT strict")
              .getInt() == 0);
    CHECK_THROWS(database.exec("INSERT INTO trial (key, configuration) VALUES ('k', 'text')"));
  }
  const auto before = content(file);
  { Store store(file); }
  CHECK(content(file) == before);
}

TEST_CASE("files that are not a run history of this schema are refused and not changed") {
  Folder folder;
  const auto file = folder / "x.db";
  SECTION("text") {
    std::ofstream(file) << "learning rate, accuracy\n" << std::string(200, '1');
    const auto before = content(file);
    for (const auto& message : {error_of([&] { Store store(file); }), error_of([&] { Reader reader(file); })}) {
      CHECK(has(message, "no SQLite database"));
      CHECK(has(message, "--db"));
    }
    CHECK(content(file) == before);
  }
  SECTION("another program's database") {
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec("CREATE TABLE bookmarks (url TEXT)");
    const auto before = content(file);
    CHECK(has(error_of([&] { Store store(file); }), "another program"));
    CHECK(has(error_of([&] { Reader reader(file); }), "another program"));
    CHECK(content(file) == before);
  }
  SECTION("a newer schema") {
    { Store store(file); }
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA user_version = 1000");
    for (const auto& message : {error_of([&] { Store store(file); }), error_of([&] { Reader reader(file); })}) {
      CHECK(has(message, "found schema 1000"));
      CHECK(has(message, "expected " + std::to_string(kSchema)));
    }
  }
  SECTION("an older schema") {
    { Store store(file); }
    SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(fmt::format("PRAGMA user_version = {}", kOldestSchema - 1));
    const auto before = content(file);
    for (const auto& refused : {error_of([&] { Store store(file); }), error_of([&] { Reader reader(file); })}) {
      CHECK(has(refused, fmt::format("too old: found schema {}, expected {} to", kOldestSchema - 1, kOldestSchema)));
      CHECK(has(refused, "commit that reads it is ed7752a9"));
      CHECK(has(refused, "`ablate merge " + file.string() + " --db NEW.db`"));
    }
    CHECK(content(file) == before);
  }
  SECTION("no file, an empty file, a missing folder") {
    CHECK(has(error_of([&] { Reader reader(file); }), file.string()));
    CHECK(has(error_of([&] { Reader reader(file); }), "ablate run"));
    CHECK_FALSE(std::filesystem::exists(file));
    std::ofstream(file).close();
    CHECK(has(error_of([&] { Reader reader(file); }), "is empty"));
    CHECK(has(error_of([&] { Store store(folder / "none/x.db"); }), "there is no folder " + (folder / "none").string()));
  }
}

TEST_CASE("an attempt is read back completely") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const auto resolved = trial("adamra", {"1/2", "1/4"}, 3);
  put(store, "study", {resolved});
  auto attempt = done(resolved, 71.5);
  attempt.results["dev/loss"] = std::numeric_limits<double>::quiet_NaN();
  attempt.curve = {{"train/loss", 10, 2.5}, {"train/loss", 20, 1.5}, {"train/loss", 20, 1.25}, {"train/loss", 30, NAN}};
  attempt.plugins = {{"attention", "adamra", "1.0.0", "code", "binary", "/lib/adamra.so"}};
  attempt.output = "step 1\xff\n";
  attempt.exit_code = 0;
  attempt.step = 30, attempt.steps = 40;
  const auto run = store.put_attempt(attempt);

  const Reader reader(file);
  for (const auto& name : {std::to_string(run), key_of(resolved).substr(0, 8)}) {
    const auto all = show_attempt(reader, name);
    CHECK(all["attempt"] == run);
    CHECK(all["key"] == key_of(resolved));
    CHECK(all["outcome"] == "done");
    CHECK(all["exit_code"] == 0);
    CHECK(all["signal"].is_null());
    CHECK(all["wall_s"] == 2.5);
    CHECK(all["peak_resident_bytes"] == 64 << 20);
    CHECK(all["parameters"].size() == 7);
    CHECK(all["parameters"]["attention.rates"] == "1/2,1/4");
    CHECK(all["parameters"]["seed"] == 3);
    CHECK(all["parameters"]["seed"].is_number_integer());
    CHECK(all["parameters"]["train.shuffle"] == true);
    CHECK(all["results"].size() == 3);
    CHECK(all["results"][0]["metric"] == "dev/loss");
    CHECK(all["results"][0]["value"].is_null());
    CHECK(all["results"][1]["value"] == 71.5);
    CHECK(all["results"][1]["unit"] == "%");
    CHECK(all["curves"]["train/loss"].dump() == "[[10,2.5],[20,1.25],[30,null]]");
    CHECK(all["plugins"][0]["id"] == "adamra");
    CHECK(all["plugins"][0]["content_hash"] == "binary");
    CHECK(all["environment"]["torch"] == "2.11.0");
    CHECK(all["output"] == "step 1\xff\n");
    CHECK(all["repeat"] == "ABLATE_DB=repeat.db ablate run experiments/study.toml --plugins /lib --set train.steps=20 --only " +
                               key_of(resolved).substr(0, 12));
    CHECK(all["step"] == 30);
    CHECK(all["steps"] == 40);
  }
  CHECK(has(error_of([&] { show_attempt(reader, "7"); }), "a number up to 1"));
  CHECK(has(error_of([&] { show_attempt(reader, "zzz"); }), "no attempt zzz"));
}

TEST_CASE("equal content is stored once") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const std::vector<nlohmann::json> trials = {trial("softmax", {}, 1), trial("adamra", {"1/2"}, 1),
                                              trial("adamra", {"1/2"}, 2)};
  const auto id = put(store, "study", trials);
  const auto parameters = rows(file, "parameter"), values = rows(file, "value");
  CHECK(put(store, "study", trials) == id);
  CHECK(put(store, "other", trials) != id);
  CHECK(rows(file, "trial") == 3);
  CHECK(rows(file, "experiment") == 2);
  CHECK(rows(file, "experiment_trial") == 6);
  CHECK(rows(file, "parameter") == parameters);
  CHECK(rows(file, "value") == values);
  store.put_attempt(done(trials[0], 1));
  store.put_attempt(done(trials[1], 2));
  auto elsewhere = done(trials[2], 3);
  elsewhere.environment["host"] = "there";
  store.put_attempt(elsewhere);
  CHECK(rows(file, "environment") == 2);
  CHECK(rows(file, "metric") == 3);
}

TEST_CASE("a grid that changes keeps its order and remembers which trials it still lists") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const auto a = trial("softmax", {}, 1), b = trial("linear", {}, 1), c = trial("adamra", {"1/2"}, 1);
  put(store, "study", {a, b});
  put(store, "study", {c, b});
  SQLite::Database database(file.string());
  SQLite::Statement ask(database, "SELECT key, listed FROM experiment_trial JOIN trial ON id = trial ORDER BY position");
  for (const auto& [expected, listed] : {std::pair(c, 1), {b, 1}, {a, 0}}) {
    REQUIRE(ask.executeStep());
    CHECK(ask.getColumn(0).getString() == key_of(expected));
    CHECK(ask.getColumn(1).getInt() == listed);
  }
}

TEST_CASE("keys are done if an attempt is done, whatever other attempts they have") {
  Folder folder;
  Store store(folder / "a.db");
  const auto a = trial("softmax", {}, 1), b = trial("softmax", {}, 2), c = trial("softmax", {}, 3);
  put(store, "study", {a, b, c});
  const std::vector<std::string> keys = {key_of(a), key_of(b), key_of(c), "unknown"};
  CHECK(store.done(keys).empty());
  store.put_attempt(failed(a, "signal 11"));
  store.put_attempt(done(a, 1));
  store.put_attempt(failed(b, "", "timeout"));
  store.put_attempt(done(c, 1));
  store.put_attempt(failed(c, "", "interrupted"));
  CHECK(store.done(keys) == std::set<std::string>{key_of(a), key_of(c)});
}

TEST_CASE("a failed write of an attempt leaves no rows, and the store still works") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const auto resolved = trial("softmax", {}, 1);
  put(store, "study", {resolved});
  auto attempt = done(resolved, 50);
  attempt.results["extra/new"] = 1;
  attempt.curve = {{"train/loss", 1, 2.0}};
  attempt.plugins = {{"task", "x", "1", "c", "h", "p", {"passed", ""}}};
  attempt.artifacts = {{"output", 1, 1, "twice"}, {"output", 1, 1, "twice"}};  // written last; equal names are refused
  CHECK_FALSE(error_of([&] { store.put_attempt(attempt); }).empty());
  for (const auto* table : {"attempt", "result", "curve", "environment", "plugin", "plugin_set", "plugin_of_set"})
    CHECK(rows(file, table) == 0);
  CHECK(rows(file, "metric") == 3);
  CHECK(store.done({key_of(resolved)}).empty());
  attempt.artifacts.clear();
  CHECK(store.put_attempt(attempt) == 1);
  CHECK(rows(file, "result") == 3);

  attempt.key = "never put";
  CHECK(has(error_of([&] { store.put_attempt(attempt); }), "never put"));
}

TEST_CASE("a trial is done by a proof until the proof is deleted; a key that another proof also gives stays") {
  Folder folder;
  const auto file = folder / "a.db";
  Store store(file);
  const auto resolved = trial("softmax", {}, 1), other = trial("softmax", {}, 2);
  put(store, "study", {resolved, other});
  for (const auto& one : {resolved, other}) store.put_attempt(done(one, 50));
  CHECK(has(error_of([&] { store.delete_proof(1); }), "found no proof 1 in this history, which has none"));
  Proof proof{.proven_us = 1, .before = {{"runtime", 3}}, .now = {{"runtime", 4}}, .environment = {{"host", "here"}}};
  proof.attempts = {1};
  proof.aliases = {{"one", 1, {{"runtime", 4}}}, {"two", 2, {{"runtime", 4}}}};
  CHECK(store.put_proof(proof) == 1);
  proof.aliases.pop_back();
  CHECK(store.put_proof(proof) == 2);
  const std::set<std::string> both{"one", "two"};
  CHECK(store.done({"one", "two", "three"}) == both);
  CHECK(has(error_of([&] { store.delete_proof(3); }), "found no proof 3 in this history, expected one of 1, 2"));
  CHECK(store.delete_proof(1) == 1);
  CHECK(store.done({"one", "two"}) == std::set<std::string>{"one"});
  CHECK(rows(file, "proofs") == 1);
  auto attempt = done(resolved, 50);  // a trial that ran under the key itself stays done
  attempt.key = "one";
  store.put_attempt(attempt);
  CHECK(store.delete_proof(2) == 0);
  CHECK(store.done({"one", "two"}) == std::set<std::string>{"one"});
  CHECK(rows(file, "alias") + rows(file, "proof_attempt") == 0);
}

TEST_CASE("two writers and a reader share a file") {
  Folder folder;
  const auto file = folder / "a.db";
  constexpr int kEach = 40;
  const auto write = [&](int first) {
    Store store(file);  // either thread may create the file
    for (int seed = first; seed < first + kEach; ++seed) {
      put(store, "study " + std::to_string(first), {trial("softmax", {}, seed)});
      store.put_attempt(done(trial("softmax", {}, seed), seed));
    }
  };
  std::string fault;
  std::thread other([&] { fault = error_of([&] { write(1000); }); });
  write(0);
  other.join();
  CHECK(fault == "");
  CHECK(rows(file, "attempt") == 2 * kEach);
  CHECK(rows(file, "result") == 4 * kEach);

  Store store(file);
  const Reader reader(file);
  CHECK(list_attempts(reader, {}).total == 2 * kEach);
  store.put_attempt(done(trial("softmax", {}, 1), 1));
  CHECK(list_attempts(reader, {}).total == 2 * kEach);  // the reader has one snapshot
  CHECK(list_attempts(Reader(file), {}).total == 2 * kEach + 1);
}
