// A study whose values are chosen by dev ([grid.tune]), with its results.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"

namespace ablate::db {

struct TunedPoint {
  std::string attention;
  double rate;
  int seed;
  double dev, test;  ///< results of its attempt; no attempt if dev is NaN
  int pool = 1;
  bool imported = false;  ///< imported without a cell
  bool tunes = false;     ///< its seed is in [grid.tune]
};

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// A study of attentions that tunes the learning rate, with its results.
class Tuned {
 public:
  /// Makes the study. Both metrics have this direction. If `cells`, the history records the cell of each trial in the grid.
  explicit Tuned(const std::vector<TunedPoint>& points, const std::string& direction = "max", bool cells = true) {
    Store store(file());
    store.put_metrics({{"test/accuracy", "%", direction, ""}, {"dev/accuracy", "%", direction, ""}});
    const auto experiment = store.put_experiment({"study", "", "study.toml", "[grid]", {}});
    std::vector<GridTrial> grid;
    std::map<std::pair<std::string, int>, std::int64_t> numbers;
    for (const auto& point : points) {
      const auto [at, fresh] = numbers.try_emplace({point.attention, point.pool}, numbers.size());
      grid.push_back({key_of(settings(point)), settings(point),
                      cells && !point.imported ? std::optional(at->second) : std::nullopt,
                      point.tunes ? Role::kTuning : Role::kReported});
    }
    store.put_trials(experiment, grid);
    for (const auto& point : points)
      if (!std::isnan(point.dev)) put(store, point);
  }

  static nlohmann::json settings(const TunedPoint& point) {
    auto resolved = trial(point.attention, {}, point.seed);
    resolved["train"]["learning_rate"] = point.rate;
    resolved["task"]["pool"] = point.pool;
    return resolved;
  }
  static void put(Store& store, const TunedPoint& point) {
    auto attempt = done(settings(point), point.test);
    attempt.results = {{"dev/accuracy", point.dev}, {"test/accuracy", point.test}};
    attempt.main_metric = "test/accuracy";
    store.put_attempt(attempt);
  }
  void change(const std::string& sql) const { SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec(sql); }

  std::filesystem::path file() const { return folder_ / "a.db"; }
  Table table(const TableRequest& request = {{"study"}, {}, {}, {}}) const { return make_table(Reader(file()), request); }

 private:
  Folder folder_;
};

/// Dev and test disagree everywhere: the value with the best dev mean never has the best test number. Softmax's largest dev
/// number (90, at 0.001) belongs to another value than softmax's best dev mean.
inline const std::vector<TunedPoint> kPoints = {
    {"softmax", 1e-3, 1, 90, 99}, {"softmax", 1e-3, 2, 60, 99}, {"softmax", 3e-3, 1, 80, 70}, {"softmax", 3e-3, 2, 82, 72},
    {"softmax", 1e-2, 1, 70, 98}, {"softmax", 1e-2, 2, 70, 98}, {"linear", 1e-3, 1, 50, 97},  {"linear", 1e-3, 2, 50, 97},
    {"linear", 3e-3, 1, 60, 96},  {"linear", 3e-3, 2, 60, 96},  {"linear", 1e-2, 1, 65, 40},  {"linear", 1e-2, 2, 65, 42},
};

}  // namespace ablate::db
