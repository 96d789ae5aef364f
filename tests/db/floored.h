// A history whose table has floors.
#pragma once

#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"

namespace ablate::db {

inline constexpr std::int64_t kFloorsOfTests = 3;

inline nlohmann::json floor_of(const std::string& name, double value, const std::string& how = "",
                               std::int64_t trained = 1000) {
  return {{"name", name}, {"how", how}, {"value", value}, {"trained", trained}};
}

inline constexpr ExampleRows kRows{.test = 400, .train = 400, .lanes = 20};

/// Floors for the fixture's task: 20 training steps of batch 20, and tests on 20 batches of 20.
inline KnownFloors floors_at(const std::string& digest) {
  return {
      .digest = digest,
      .task = {{"plugin", "image"}, {"pool", 2}},
      .rows = {.test = 400, .train = 400},
      .version = kFloorsOfTests,
      .found_s = 100,
      .metric = "test/accuracy",
      .examples = 400,
      .train_size = 1000,
      .seen = 400,
      .floors = {floor_of("largest class", 20), floor_of("counts", 52, "order 3"), floor_of("linear on a bag", 40.25, "", 10)}};
}

/// Returns a done attempt, with the metric that judges the trial.
inline Attempt judged(const nlohmann::json& resolved, double accuracy) {
  auto attempt = done(resolved, accuracy);
  attempt.main_metric = "test/accuracy";
  return attempt;
}

/// A history. run() stores an experiment with a trial for each value. Each trial has another attention: a, b, ...
struct Floored {
  Folder folder;
  std::filesystem::path file = folder / "a.db";
  Store store{file};

  void run(const std::vector<double>& values,
           const nlohmann::json& train = {{"test_batches", 20}, {"batch", 20}, {"steps", 20}}, const std::string& digest = "d",
           const std::string& experiment = "study") {
    std::vector<nlohmann::json> trials;
    for (std::size_t i = 0; i < values.size(); ++i) {
      trials.push_back(trial(std::string(1, static_cast<char>('a' + i)), {}, 1));
      trials.back()["train"].update(train);
    }
    put(store, experiment, trials);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto attempt = judged(trials[i], values[i]);
      store.put_attempt(attempt);
      store.put_parts({{attempt.key, {nlohmann::json::object(), {{"data", digest}, {"plugins", nlohmann::json::object()}}}}});
    }
  }
  std::vector<std::string> notes(TableRequest request = {}) const {
    if (request.experiments.empty()) request.experiments = {"study"};
    if (request.rows.empty()) request.rows = {"attention"};
    request.floors_version = kFloorsOfTests;
    auto notes = make_table(Reader(file), request).notes;
    std::erase(notes, kOneBudget);  // tests/db/longer_table_test.cpp tests this note
    return notes;
  }
};

inline const std::string kMissing =
    "floors on these test examples are not known: `ablate audit experiments/study.toml --set train.steps=20` finds them";

}  // namespace ablate::db
