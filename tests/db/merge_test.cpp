// Merges of the same histories give the same content, in any order and any number of times.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "core/util/stop_on_signal.h"
#include "db/history/keeping.h"
#include "tests/db/ask.h"
#include "tests/db/fixture.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

constexpr std::int64_t kNoon = 1'700'000'000'000'000;

/// Returns the content of every view, sorted, without the numbers that a file gives to its rows.
std::string said_by(const std::filesystem::path& file) {
  const std::set<std::string> numbers = {"attempt", "trial", "proof", "attempts"};
  std::string all;
  for (const auto& view :
       nlohmann::json::parse(ask(file, "SELECT name FROM sqlite_master WHERE type = 'view' ORDER BY name", Format::kJson))) {
    const auto name = view.at("name").get<std::string>();
    std::vector<std::string> rows;
    for (auto row : nlohmann::json::parse(ask(file, "SELECT * FROM " + name, Format::kJson))) {
      for (const auto& number : numbers) row.erase(number);
      rows.push_back(row.dump());
    }
    std::sort(rows.begin(), rows.end());
    all += name + "\n";
    for (const auto& row : rows) all += "  " + row + "\n";
  }
  return all;
}

Attempt at(Attempt attempt, std::int64_t minutes) {
  attempt.started_us = kNoon + minutes * 60'000'000;
  attempt.environment["host"] = "machine " + std::to_string(minutes % 3);
  attempt.main_metric = "test/accuracy";
  attempt.plugins = {{"attention", "softmax", "1.0.0", "c0de", "b1nary", "/lib/softmax.so", {"passed", ""}}};
  for (int step = 1; step <= 3; ++step) attempt.curve.push_back({"train/loss", step, static_cast<double>(minutes) / step});
  return attempt;
}

/// Sets the time at which the latest grid of an experiment was written.
void list_at(const std::filesystem::path& file, const std::string& experiment, std::int64_t minutes) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
  SQLite::Statement set(database, "UPDATE experiment SET listed_us = ? WHERE name = ?");
  set.bind(1, kNoon + minutes * 60'000'000);
  set.bind(2, experiment);
  set.exec();
}

/// Three histories that share some trials, and differ in grids, definitions, verdicts, audits and published values.
class Three {
 public:
  Three() {
    make("a.db", 10, {trial("softmax", {}, 1), trial("softmax", {}, 2)}, 1);
    make("b.db", 30, {trial("softmax", {}, 2), trial("adamra", {"1/8"}, 1), trial("adamra", {"1/4"}, 1)}, 2);
    make("c.db", 20, {trial("softmax", {}, 1), trial("linear", {}, 1)}, 3);
  }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  /// Returns a copy of the first named history, into which the others were merged in the order of `names`.
  std::filesystem::path merged(const std::vector<std::string>& names) const {
    std::string all;
    for (const auto& name : names) all += "," + name;
    auto file = folder_ / (all.substr(1) + ".db");
    back_up(folder_ / names.front(), file);
    Store store(file);
    for (std::size_t i = 1; i < names.size(); ++i) store.merge(OtherHistory(folder_ / names[i]));
    return file;
  }

 private:
  void make(const std::string& name, std::int64_t minutes, const std::vector<nlohmann::json>& trials, int which) {
    const auto file = folder_ / name;
    Store store(file);
    auto all = trials;
    all.push_back(trial("only", {}, which));
    put(store, "shared", all);  // an earlier grid; its last trial is no longer listed
    put(store, "shared", trials);
    put(store, "of " + name, {trials.front()});
    for (const auto& one : trials) store.put_attempt(at(done(one, 50 + which), minutes + which));
    store.put_attempt(at(failed(trials.front(), "signal 11"), minutes + 5));
    store.put_metrics({{"test/accuracy", "%", "max", "as " + name + " has it"}});
    store.put_published(1, {{key_of(trials.front()), "test/accuracy", 60.0 + which, "paper " + name}});
    UsedPlugin plugin{
        "attention", "softmax", "", "c0de", "", "", {which == 2 ? "failed" : "passed", which == 2 ? "causal" : ""}};
    plugin.verdict.lengths = {{"causal", 2113 + 10 * which}, {"bidirectional", 2150 - 10 * which}};
    store.put_verdicts({{plugin, 7, 1000 + (which * 7) % 5}});
    store.put_audit({.digest = "d", .task = "image", .suite = 7, .audited_s = 1000 + which, .verdict = "failed"});
    store.put_floors({.digest = "d",
                      .task = {{"plugin", "image"}},
                      .rows = {.train = which == 3 ? 200 : 100},
                      .version = 1,
                      .found_s = 1000 + (which * 7) % 5,
                      .metric = "of " + name});
    list_at(file, "shared", minutes);
  }
  Folder folder_;
};

}  // namespace

TEST_CASE("merges in any order and grouping give the same views, and a repeated merge changes nothing") {
  const Three three;
  const auto abc = three.merged({"a.db", "b.db", "c.db"});
  const auto expected = said_by(abc);
  CHECK(said_by(three.merged({"a.db", "c.db", "b.db"})) == expected);
  CHECK(said_by(three.merged({"c.db", "b.db", "a.db"})) == expected);
  three.merged({"b.db", "c.db"});
  CHECK(said_by(three.merged({"a.db", "b.db,c.db.db"})) == expected);
  CHECK(said_by(three.merged({"b.db,c.db.db", "a.db"})) == expected);
  CHECK(faults(abc).empty());
  CHECK(expected != said_by(three / "a.db"));

  Store store(abc);
  const auto before = ask(abc, "SELECT * FROM attempts") + ask(abc, "SELECT * FROM members");
  for (const auto* name : {"a.db", "b.db", "c.db"}) {
    const auto again = store.merge(OtherHistory(three / name));
    CHECK(again.attempts == 0);
    CHECK(again.known == (std::string(name) == "b.db" ? 4 : 3));
  }
  CHECK(ask(abc, "SELECT * FROM attempts") + ask(abc, "SELECT * FROM members") == before);
}

TEST_CASE("a merge adds missing rows, reports how many, and leaves the other file unchanged") {
  const Three three;
  const auto before = content(three / "b.db");
  Store store(three / "a.db");
  const auto merged = store.merge(OtherHistory(three / "b.db"));
  CHECK(merged.attempts == 4);
  CHECK(merged.trials == 3);
  CHECK(merged.known == 0);
  CHECK(content(three / "b.db") == before);
  const auto file = three / "a.db";
  // The grid of b is later: its trials are listed in its order, and all others follow by their keys.
  CHECK(ask(file,
            "SELECT t.attention, m.position FROM members m JOIN (SELECT trial, text AS attention FROM parameters WHERE "
            "path = 'attention') t USING (trial) WHERE experiment = 'shared' AND listed ORDER BY position") ==
        "attention,position\nsoftmax,0\nadamra,1\nadamra,2\n");
  CHECK(ask(file, "SELECT count(*) AS n, min(position) AS first FROM members WHERE experiment = 'shared' AND NOT listed") ==
        "n,first\n3,3\n");
  CHECK(ask(file, "SELECT source FROM published") == "source\npaper b.db\n");
  CHECK(ask(file, "SELECT DISTINCT description FROM metrics WHERE metric = 'test/accuracy'") ==
        "description\nas b.db has it\n");
  CHECK(ask(file, "SELECT count(*) AS n FROM curves") == "n\n21\n");
  // If a trial has two attempts, the later one counts, whatever its number.
  CHECK(ask(file, "SELECT CAST(\"test/accuracy\" AS INTEGER) AS a FROM trials WHERE attention = 'softmax' AND seed = 2") ==
        "a\n52\n");
  Store other(three / "c.db");
  other.merge(OtherHistory(three / "a.db"));
  CHECK(ask(three / "c.db",
            "SELECT CAST(\"test/accuracy\" AS INTEGER) AS a FROM trials WHERE attention = 'softmax' AND seed = 1") ==
        "a\n53\n");
}

TEST_CASE("a trial has the settings of its latest done attempt, from any of the histories") {
  for (const bool turned : {false, true}) {
    Folder folder;
    const auto one = trial("softmax", {}, 1);
    auto moved = one;
    moved["task"]["data"] = "/elsewhere";
    for (const auto& [name, resolved, minutes] : {std::tuple("a.db", one, 1), std::tuple("b.db", moved, 2)}) {
      Store store(folder / name);
      put(store, "study", {one});
      auto attempt = at(done(one, 50), minutes);
      attempt.resolved = resolved;
      store.put_attempt(attempt);
    }
    Store store(folder / (turned ? "b.db" : "a.db"));
    store.merge(OtherHistory(folder / (turned ? "a.db" : "b.db")));
    CHECK(ask(store.file(), "SELECT text FROM parameters WHERE path = 'task.data'") == "text\n/elsewhere\n");
  }
}

TEST_CASE("proofs are merged, and two proofs may give the same key") {
  Folder folder;
  const auto one = trial("softmax", {}, 1);
  const nlohmann::json code = {{"plugins", {{"attention", "c0de"}}}}, edited = {{"plugins", {{"attention", "new"}}}};
  const auto make = [&](const std::string& name, std::int64_t minutes) {
    Store store(folder / name);
    put(store, "study", {one});
    const auto attempt = store.put_attempt(at(done(one, 50), minutes));
    store.put_proof({kNoon + minutes, code, edited, {{"host", name}}, {attempt}, {{"key of new code", 1, edited}}});
  };
  make("a.db", 1);
  make("b.db", 2);
  const auto merged = [&](const std::string& from, const std::string& with) {
    back_up(folder / from, folder / (from + with));
    Store store(folder / (from + with));
    for (int times = 0; times < 2; ++times) store.merge(OtherHistory(folder / with));
    return folder / (from + with);
  };
  const auto file = merged("a.db", "b.db");
  CHECK(said_by(file) == said_by(merged("b.db", "a.db")));
  CHECK(ask(file, "SELECT json_extract(environment, '$.host') AS host, attempts, trials FROM proofs ORDER BY proven, host") ==
        "host,attempts,trials\na.db,1,1\nb.db,2,1\n");
  Store store(file);
  CHECK(store.delete_proof(1) == 0);  // proof 2 gives the key, too
  CHECK(store.delete_proof(2) == 1);
}

TEST_CASE("a grid that is listed again is the latest, even if clocks disagree; the grid of a share has the time of its plan") {
  Folder folder;
  const auto one = trial("softmax", {}, 1), two = trial("softmax", {}, 2);
  const auto listed = [](const std::filesystem::path& file) {
    return ask(file, "SELECT count(*) AS n FROM members WHERE listed");
  };
  {
    Store store(folder / "share.db");  // its plan is older than all other grids
    store.put_trials(store.put_experiment({"study", "", "", "", {}, kNoon}), {{key_of(one), one}, {key_of(two), two}});
    store.put_trials(store.put_experiment({"study", "", "", "", {}, kNoon - 1}), {{key_of(one), one}, {key_of(two), two}});
  }
  {
    Store store(folder / "ahead.db");
    put(store, "study", {one, two});
  }
  list_at(folder / "ahead.db", "study", 60 * 24 * 3650);  // written by a clock that is years ahead
  Store store(folder / "a.db");
  put(store, "study", {one});
  store.merge(OtherHistory(folder / "share.db"));
  CHECK(listed(folder / "a.db") == "n\n1\n");
  store.merge(OtherHistory(folder / "ahead.db"));
  CHECK(listed(folder / "a.db") == "n\n2\n");
  put(store, "study", {one});
  store.merge(OtherHistory(folder / "ahead.db"));
  CHECK(listed(folder / "a.db") == "n\n1\n");
}

TEST_CASE("imported trials that either history lists stay listed after the later grid, in any order of merges") {
  Folder folder;
  const auto one = trial("softmax", {}, 1), two = trial("softmax", {}, 2);
  const auto import = [](Store& store, const std::vector<int>& seeds) {
    ImportedFile file{"far.csv", {"seed"}, {}, {}};
    for (const int seed : seeds) {
      file.trials.push_back({.experiment = "study", .parameters = {{"seed", seed}}, .started_us = kNoon});
      file.trials.back().results = {{"test/accuracy", seed}};
    }
    store.import(file);
  };
  // a and b have the same grid and different imports. In c the grid was listed again later, and more imports followed.
  for (const auto& [name, seeds] : {std::pair("a.db", std::vector{93, 91, 92}), {"b.db", {94, 92}}, {"c.db", {91}}}) {
    Store store(folder / name);
    put(store, "study", {two, one});
    import(store, seeds);
    if (std::string(name) == "c.db") put(store, "study", {one, two}), import(store, {97, 95, 96});
    list_at(folder / name, "study", std::string(name) == "c.db" ? 2 : 1);
  }
  const auto merged = [&](const std::vector<std::string>& names) {
    std::string all;
    for (const auto& name : names) all += name;
    all += ".merged";
    back_up(folder / names.front(), folder / all);
    Store store(folder / all);
    for (std::size_t i = 1; i < names.size(); ++i) store.merge(OtherHistory(folder / names[i]));
    return folder / all;
  };
  const auto abc = merged({"a.db", "b.db", "c.db"});
  const auto expected = said_by(abc);
  CHECK(ask(abc, "SELECT count(*) AS n FROM members WHERE listed") == "n\n9\n");
  CHECK(ask(abc,
            "SELECT group_concat(text, ' ') AS seeds FROM (SELECT p.text FROM members m JOIN parameters p USING (trial) "
            "WHERE p.path = 'seed' AND m.listed ORDER BY m.position LIMIT 2)") == "seeds\n1 2\n");
  CHECK(ask(merged({"a.db", "b.db"}), "SELECT count(*) AS n FROM members WHERE listed") == "n\n6\n");
  merged({"b.db", "c.db"});
  for (const std::vector<std::string>& order : std::vector<std::vector<std::string>>{{"c.db", "b.db", "a.db"},
                                                                                     {"b.db", "c.db", "a.db"},
                                                                                     {"c.db", "a.db", "b.db", "a.db"},
                                                                                     {"a.db", "b.dbc.db.merged"},
                                                                                     {"a.dbb.db.merged", "c.db"},
                                                                                     {"b.dbc.db.merged", "a.db"}})
    CHECK(said_by(merged(order)) == expected);
}
