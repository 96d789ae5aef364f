// Floors in a history and in a table.
#include <SQLiteCpp/SQLiteCpp.h>

#include <algorithm>

#include "core/records/floor_texts.h"
#include "tests/db/floored.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

const std::string kOwn =
    "test/accuracy is a proportion of 400 test examples; the 95 % error of this proportion alone is up to ± 4.9";

}  // namespace

TEST_CASE("floors are stored by data, task and test examples, and the latest floors count") {
  Floored study;
  const auto floors = floors_at("d");
  CHECK_FALSE(study.store.floors("d", floors.task, kRows));
  study.store.put_floors(floors);
  const auto known = study.store.floors("d", floors.task, kRows);
  REQUIRE(known);
  CHECK(known->floors == floors.floors);
  CHECK(known->metric == "test/accuracy");
  CHECK(known->examples == 400);
  CHECK(known->train_size == 1000);
  CHECK(known->seen == 400);
  CHECK((known->rows == ExampleRows{.test = 400, .train = 400}));
  CHECK(known->version == kFloorsOfTests);
  CHECK(known->found_s == 100);
  CHECK_FALSE(study.store.floors("e", floors.task, kRows));
  CHECK_FALSE(study.store.floors("d", {{"plugin", "image"}, {"pool", 3}}, kRows));
  CHECK_FALSE(study.store.floors("d", floors.task, {}));
  auto later = floors;
  CHECK(known->left_out.empty());
  later.found_s = 200;
  later.left_out = {"linear on n-grams"};
  study.store.put_floors(later);
  CHECK(study.store.floors("d", floors.task, kRows)->found_s == 200);
  CHECK(study.store.floors("d", floors.task, kRows)->left_out == later.left_out);
}

TEST_CASE("after a merge, complete floors replace partial floors, for any order and any time of the floors") {
  const Folder folder;
  const auto whole = floors_at("d");
  auto part = whole;  // there was no time for one predictor
  part.found_s = 200, part.left_out = {"linear on n-grams"}, part.floors = {floor_of("largest class", 20)};
  auto newer = whole;  // predictors have changed since
  newer.version = kFloorsOfTests + 1, newer.found_s = 50, newer.left_out = {"linear on n-grams"};
  const auto merged = [&](const std::string& name, const KnownFloors& first, const KnownFloors& second) {
    Store into(folder / (name + ".db"));
    into.put_floors(first);
    Store(folder / (name + " other.db")).put_floors(second);
    into.merge(OtherHistory(folder / (name + " other.db")));
    const auto known = into.floors("d", whole.task, kRows);
    REQUIRE(known);
    return *known;
  };
  for (const auto& known : {merged("a", whole, part), merged("b", part, whole)}) {
    CHECK(known.left_out.empty());
    CHECK(known.floors == whole.floors);
  }
  for (const auto& known : {merged("c", whole, newer), merged("d", newer, whole)}) CHECK(known.version == kFloorsOfTests + 1);
}

TEST_CASE("a table reports floors, the number of rows that do not exceed them, and the error of a proportion") {
  Floored study;
  study.run({50, 56.8, 57, 60});
  CHECK(study.notes() == std::vector<std::string>{"test/accuracy is a proportion of at most 400 test examples; the 95 % error "
                                                  "of this proportion alone is ± 4.9 or more",
                                                  kMissing});
  study.store.put_floors(floors_at("d"));
  // scipy.stats.binomtest(208, 400).proportion_ci(method="wilson"): 47.108 to 56.854 %
  CHECK(study.notes() == std::vector<std::string>{"floors of test/accuracy from the 400 of 1000 training examples that these "
                                                  "rows see: counts 52.0 (order 3), linear on a bag 40.2 "
                                                  "(trained on a part), largest class 20.0; 2 of 4 "
                                                  "rows are within the floor's interval [47.1, 56.9] or below it",
                                                  kOwn});
  SECTION("no other metric has floors") {
    TableRequest request;
    request.metrics = {"train/step_time"};
    CHECK(study.notes(request).empty());
  }
  SECTION("the command needs options to find plugins and history") {
    study.store.put_floors([] {
      auto floors = floors_at("d");
      floors.version = kFloorsOfTests - 1;
      return floors;
    }());
    TableRequest request;
    request.check_options = [](const auto&) { return " --plugins build"; };
    request.database_option = " --db a.db";
    CHECK(has(study.notes(request).back(), "--set train.steps=20 --plugins build --db a.db` finds them"));
  }
  SECTION("predictors that ran out of time are named, because one of them may be the strongest") {
    auto partial = floors_at("d");
    partial.left_out = {"linear on n-grams", "linear\non a bag"};
    study.store.put_floors(partial);
    CHECK(has(study.notes().front(),
              "[47.1, 56.9] or below it; no time was left for linear on a bag, linear on n-grams: `ablate "
              "audit` tries again"));
    for (const auto* text : {"[[[", "{}", "[3]"}) {
      SQLite::Database(study.file.string(), SQLite::OPEN_READWRITE)
          .exec(std::string("UPDATE floor SET left_out = '") + text + "'");
      CHECK(study.notes().back() == kMissing);
    }
  }
  SECTION("another program wrote the file") {
    for (const auto* text : {"[[[", "[]", "[3]", R"([{"value": "x"}])"}) {
      SQLite::Database(study.file.string(), SQLite::OPEN_READWRITE)
          .exec(std::string("UPDATE floor SET floors = '") + text + "'");
      CHECK(study.notes().back() == kMissing);
    }
  }
}

TEST_CASE("a score of 100 % has an error, too, and rows below the largest class are named") {
  Floored all, below, one;
  all.run({100});
  all.store.put_floors(floors_at("d"));
  // python3 -c 'from scipy import stats; print(stats.binomtest(400, 400).proportion_ci(method="wilson"))': 0.99049
  CHECK(all.notes().back() ==
        "test/accuracy is a proportion of 400 test examples; the 95 % error of this proportion alone is up to ± 1.0");
  below.run({19.9, 60, 20});
  below.store.put_floors(floors_at("d"));
  CHECK(below.notes().at(1) == "test/accuracy is below the largest class (20.0 %) for a");
  one.run({100});
  auto floors = floors_at("d");
  floors.floors = {floor_of("largest class", 100)};
  one.store.put_floors(floors);
  CHECK(one.notes().at(1) == "the test examples are all of one class: test/accuracy shows nothing");
}

TEST_CASE("a table reports if its dev examples are all of one class") {
  Floored study;
  study.run({60});
  auto floors = floors_at("d");
  floors.floors = {floor_of("largest class", 50)};
  study.store.put_floors(floors);
  const auto* const note = "the dev examples are all of one class: dev chooses at random";
  CHECK_FALSE(has(study.notes().at(1), "one class"));
  floors.floors[0]["how"] = kDevOfOneClass;
  study.store.put_floors(floors);
  CHECK(study.notes().at(1) == note);
}

TEST_CASE("floors of other data, of another task or of other test examples are not shown") {
  Floored study;
  auto floors = floors_at("d");
  study.run({50});
  SECTION("data") { floors.digest = "e"; }
  SECTION("task") { floors.task["pool"] = 4; }
  SECTION("examples") { floors.rows.test = 0; }
  SECTION("fewer training examples") { floors.rows.train = floors.seen = 380; }
  SECTION("more training examples") { floors.rows.train = floors.seen = 420; }
  SECTION("all training examples, but the rows see fewer") { floors.rows.train = 0, floors.seen = 1000; }
  SECTION("another part of a stream") { floors.rows.lanes = 10; }
  SECTION("version") { floors.version = kFloorsOfTests + 1; }
  study.store.put_floors(floors);
  CHECK(study.notes().back() == kMissing);
}

TEST_CASE("if the parts of the trials' keys are unknown, a table has no floors, and no note about missing floors") {
  Floored study;
  put(study.store, "study", {trial("a", {}, 1)});
  study.store.put_attempt(judged(trial("a", {}, 1), 50));
  study.store.put_floors(floors_at("d"));
  CHECK(study.notes().empty());
}

TEST_CASE("for bits, fewer are better, and floors have no interval") {
  Floored study;
  study.store.put_metrics({{"test/bits_per_byte", "bit", "min", "bits"}});
  std::vector<nlohmann::json> trials;
  for (const auto* attention : {"a", "b", "c"}) trials.push_back(trial(attention, {}, 1));
  put(study.store, "study", trials);
  double bits = 3.5;
  for (const auto& one : trials) {
    auto attempt = judged(one, 0);
    attempt.results = {{"test/bits_per_byte", bits += 0.3}};
    attempt.main_metric = "test/bits_per_byte";
    study.store.put_attempt(attempt);
    study.store.put_parts({{attempt.key, {nlohmann::json::object(), {{"data", "d"}, {"plugins", nlohmann::json::object()}}}}});
  }
  auto floors = floors_at("d");
  floors.rows = {}, floors.seen = 1000, floors.metric = "test/bits_per_byte";
  floors.floors = {floor_of("counts", 3.916, "order 2"), floor_of("linear prediction", 4.5)};
  study.store.put_floors(floors);
  CHECK(study.notes() ==
        std::vector<std::string>{
            "floors of test/bits_per_byte from 1000 training examples: counts 3.916 (order 2), linear prediction 4.5; "
            "2 of 3 rows are no better than the best floor"});
}

TEST_CASE("near 100 % the upper end of a floor's interval is nearer than the lower end") {
  Floored study;
  study.run({92, 92.5, 93, 99});
  auto floors = floors_at("d");
  floors.floors = {floor_of("counts", 90)};
  study.store.put_floors(floors);
  // scipy.stats.binomtest(360, 400).proportion_ci(method="wilson"): 86.669 to 92.570 %
  CHECK(has(study.notes().front(), "2 of 4 rows are within the floor's interval [86.7, 92.6] or below it"));
}

TEST_CASE("data that differ by seed have the mean of their floors, once all floors are known") {
  Floored study;
  std::vector<nlohmann::json> trials;
  for (const int seed : {1, 2}) {
    trials.push_back(trial("a", {}, seed));
    trials.back()["task"]["data_seed"] = seed;
  }
  put(study.store, "study", trials);
  for (const auto& one : trials) {
    const auto attempt = judged(one, 50);
    study.store.put_attempt(attempt);
    study.store.put_parts(
        {{attempt.key, {nlohmann::json::object(), {{"data", one["seed"].dump()}, {"plugins", nlohmann::json::object()}}}}});
  }
  for (const int seed : {1, 2}) {
    CHECK(study.notes().back() == kMissing);
    auto floors = floors_at(std::to_string(seed));
    floors.rows = {}, floors.seen = 1000, floors.task["data_seed"] = seed;
    floors.floors = {floor_of("counts", 40.0 + 10 * seed, "order 2")};
    study.store.put_floors(floors);
  }
  CHECK(study.notes().at(1) ==
        "floors of test/accuracy from 1000 training examples: counts 55.0 (order 2); 1 of 1 row is within the floor's interval "
        "[50.1, 59.8] or below it");
}

TEST_CASE("rows with other test examples are not compared: batches, stride, segment") {
  for (const auto& [section, name] : {std::pair("train", "test_batches"), {"train", "stride"}, {"model", "segment"}}) {
    INFO(section << "." << name);
    Floored study;
    std::vector<nlohmann::json> trials;
    for (const auto* attention : {"a", "b"})
      for (int seed = 1; seed <= 8; ++seed) {
        trials.push_back(trial(attention, {}, seed));
        trials.back()[section][name] = attention[0] == 'a' ? 8 : 16;
      }
    put(study.store, "study", trials);
    for (std::size_t i = 0; i < trials.size(); ++i) study.store.put_attempt(judged(trials[i], i < 8 ? 50.0 + i : 70.0 + i));
    const auto table = make_table(
        Reader(study.file), {.experiments = {"study"}, .rows = {"attention"}, .statistics = {{"against", {"attention=a"}}}});
    CHECK(table.cell(1, 0, 0).comparison().significance == Comparison::Significance::kUntested);
    CHECK(has(table.cell(1, 0, 0).comparison().untested, "other tasks or test examples"));
  }
}
