// Floors that rows of a table share: by test examples, training examples, batch size and imported data.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>

#include "tests/db/floored.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("different test examples have different floors, and each floor counts only the rows with its test examples") {
  Floored study;
  study.run({50, 60});
  study.run({70, 80, 90}, {{"test_batches", 0}, {"batch", 20}}, "d", "whole");
  study.store.put_floors(floors_at("d"));
  auto whole = floors_at("d");
  whole.rows = {}, whole.seen = 1000, whole.examples = 10'000, whole.floors = {floor_of("counts", 79.5)};
  study.store.put_floors(whole);
  TableRequest request;
  request.experiments = {"study", "whole"};
  request.rows = {"experiment", "attention"};
  const auto notes = study.notes(request);
  REQUIRE(notes.size() == 3);
  CHECK(notes[0] ==
        "floors of test/accuracy on all test examples from 1000 training examples: counts 79.5; 2 of 3 rows are within the "
        "floor's interval [78.7, 80.3] or "
        "below it");
  CHECK(has(notes[1],
            "floors of test/accuracy on 400 test examples at most from the 400 of 1000 training examples that these rows see: "
            "counts 52.0"));
  CHECK(has(notes[1], "; 1 of 2 rows is within"));
  CHECK(notes[2] ==
        "test/accuracy is a proportion of 400 to 10000 test examples; the 95 % error of this proportion alone is up to ± 4.9");
}

TEST_CASE("different numbers of training examples have different floors, and each floor counts only the rows with its number") {
  Floored study;
  std::vector<nlohmann::json> trials;
  for (const int steps : {10, 20, 30})
    for (const auto* attention : {"a", "b"}) {
      trials.push_back(trial(attention, {}, 1));
      trials.back()["train"].update({{"steps", steps}, {"batch", 10}, {"accumulate", 2}, {"test_batches", 40}});
    }
  put(study.store, "study", trials);
  double value = 30;
  for (const auto& one : trials) {
    const auto attempt = judged(one, value += 10);
    study.store.put_attempt(attempt);
    study.store.put_parts({{attempt.key, {nlohmann::json::object(), {{"data", "d"}, {"plugins", nlohmann::json::object()}}}}});
  }
  auto few = floors_at("d");
  few.rows.train = few.seen = 200, few.floors = {floor_of("counts", 44.0)};
  study.store.put_floors(few);
  study.store.put_floors(floors_at("d"));  // for 20 steps of 2 x 10 examples
  TableRequest request;
  request.rows = {"train.steps", "attention"};
  auto notes = study.notes(request);
  CHECK(has(notes[0], "from the 200 of 1000 training examples that these rows see: counts 44.0; 1 of 2 rows is within"));
  CHECK(has(notes[1], "from the 400 of 1000 training examples that these rows see: counts 52.0"));
  CHECK(has(notes[1], "; 0 of 2 rows are within"));
  CHECK(notes.back() == kMissing);  // for the rows with 600 training examples
  SECTION("a cell over several numbers of training examples has no floors") {
    request.rows = {"attention"};
    for (const auto& note : study.notes(request)) CHECK_FALSE(has(note, "floors"));
  }
  SECTION("rows that saw more than the whole split have the floors of the whole split") {
    auto whole = floors_at("d");
    whole.rows.train = 0, whole.train_size = whole.seen = 500, whole.floors = {floor_of("counts", 48.0)};
    study.store.put_floors(whole);
    notes = study.notes(request);
    CHECK(has(notes[0], "from 500 training examples: counts 48.0; 0 of 2 rows"));
    CHECK(std::ranges::find(notes, kMissing) == notes.end());
    CHECK((study.store.floors("d", whole.task, {.test = 400, .train = 500})->rows == whole.rows));
    CHECK_FALSE(study.store.floors("d", whole.task, {.test = 400, .train = 499}));
  }
  SECTION("floors from the whole split also apply to larger numbers of training examples, for any batch size") {
    auto whole = floors_at("d");
    whole.rows.train = 501, whole.rows.lanes = 3, whole.train_size = whole.seen = 500;
    study.store.put_floors(whole);
    CHECK((study.store.floors("d", whole.task, {.test = 400, .train = 600, .lanes = 20})->rows == whole.rows));
    CHECK_FALSE(study.store.floors("d", whole.task, {.test = 400, .train = 499, .lanes = 20}));
  }
}

TEST_CASE("rows with different batch sizes share a floor for examples, but not for streams") {
  Floored study;
  study.run({50, 60});
  study.run({40}, {{"test_batches", 10}, {"batch", 40}, {"steps", 10}}, "d", "wide");
  TableRequest request;
  request.experiments = {"study", "wide"};
  request.rows = {"experiment", "attention"};
  auto floors = floors_at("d");
  study.store.put_floors(floors);
  auto notes = study.notes(request);
  REQUIRE(notes.size() == 2);
  CHECK(has(notes[0], "; 2 of 3 rows are within"));
  floors.rows.lanes = 20;  // as for a stream
  SQLite::Database(study.file.string(), SQLite::OPEN_READWRITE).exec("DELETE FROM floor");
  study.store.put_floors(floors);
  notes = study.notes(request);
  CHECK(has(notes[0], "; 1 of 2 rows is within"));
  CHECK(has(notes.back(), "floors on these test examples are not known: "));
}

TEST_CASE("imported trials have the floors of the data with the digest in their file") {
  Floored study;
  auto file = ImportedFile{.name = "in.csv", .metrics = {{"test/accuracy", "%", "max", "share"}}};
  for (const double value : {50, 60}) {
    ImportedTrial one{.experiment = "study"};
    one.parameters = {{"attention", value < 55 ? "a" : "b"},
                      {"task", "image"},
                      {"task.pool", 2},
                      {"seed", 1},
                      {"train.batch", 20},
                      {"train.steps", 20},
                      {"train.test_batches", 20}};
    one.results = {{"test/accuracy", value}}, one.main_metric = "test/accuracy", one.data_digest = "d";
    file.trials.push_back(one);
  }
  const std::string
      found = "floors of test/accuracy from the 400 of 1000 training examples that these rows see: counts 52.0",
      missing =
          "floors of imported trials are not known: run `ablate audit STUDY.toml --db a.db` on the study that they came from";
  TableRequest request;
  request.database_option = " --db a.db";
  const auto all_have = [&](const std::string& path, const nlohmann::json& value) {
    for (auto& one : file.trials) one.parameters[path] = value;
  };
  SECTION("the same data, task and rows") {
    study.store.import(file);
    CHECK(study.notes(request).back() == missing);
    study.store.put_floors(floors_at("d"));
    const auto notes = study.notes(request);
    CHECK(std::ranges::any_of(notes, [&](const auto& note) { return has(note, found) && has(note, "1 of 2 rows is within"); }));
    CHECK(std::ranges::find(notes, missing) == notes.end());
  }
  SECTION("other data, another task, other rows") {
    SECTION("digest") { file.trials[0].data_digest = file.trials[1].data_digest = "e"; }
    SECTION("task") { all_have("task.pool", 4); }
    SECTION("type") { all_have("task.pool", 2.0); }
    SECTION("test") { all_have("train.test_batches", 10); }
    SECTION("steps") { all_have("train.steps", 10); }
    study.store.import(file);
    study.store.put_floors(floors_at("d"));
    for (const auto& note : study.notes(request)) CHECK_FALSE(has(note, "floors of test/accuracy"));
  }
  SECTION("values without a type in CSV: empty texts, lists, texts that look like numbers") {
    auto floors = floors_at("d");
    floors.task.update({{"folder", ""}, {"name", "7"}, {"rates", {"1/2", "1/4"}}, {"causal", true}});
    study.store.put_floors(floors);
    all_have("task.name", 7), all_have("task.rates", "1/2,1/4"), all_have("task.causal", true);
    SECTION("unchanged") {
      study.store.import(file);
      CHECK(std::ranges::any_of(study.notes(request), [&](const auto& note) { return has(note, found); }));
    }
    SECTION("without one parameter") {
      for (auto& one : file.trials) one.parameters.erase("task.name");
      study.store.import(file);
      CHECK(study.notes(request).back() == missing);
    }
  }
  SECTION("rows with different data have the mean of the floors, once all floors are known") {
    file.trials.back().data_digest = "e";
    study.store.import(file);
    study.store.put_floors(floors_at("d"));
    CHECK(study.notes(request).back() == missing);
    auto other = floors_at("e");
    other.floors[1]["value"] = 62;
    study.store.put_floors(other);
    CHECK(std::ranges::any_of(study.notes(request), [](const auto& note) { return has(note, "counts 57.0"); }));
  }
  SECTION("a file that lacks the digest, the test examples, the steps or the task") {
    const auto none_has = [&](const char* path) {
      for (auto& one : file.trials) one.parameters.erase(path);
    };
    SECTION("digest") { file.trials[0].data_digest = file.trials[1].data_digest = ""; }
    SECTION("test examples") { none_has("train.test_batches"); }
    SECTION("steps") { none_has("train.steps"); }
    SECTION("task") { none_has("task"); }
    study.store.import(file);
    study.store.put_floors(floors_at("d"));
    for (const auto& note : study.notes(request)) CHECK_FALSE(has(note, "floors"));
  }
}
