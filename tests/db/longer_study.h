// A study whose trials are repeated with more steps ([grid.longer]), with its results.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "db/questions/tables/make_table.h"
#include "tests/db/fixture.h"

namespace ablate::db {

struct LongerPoint {
  std::string attention;
  int seed;
  double value, longer;  ///< test/accuracy; `longer` may also be kNotRun or kNotPlanned
};

inline constexpr double kNotRun = std::numeric_limits<double>::quiet_NaN();  ///< the grid has a longer trial, without a run
inline constexpr double kNotPlanned = -1;                                    ///< the grid has no longer trial

/// Attentions with 60 steps, and with 5 times the steps.
class Longer {
 public:
  static nlohmann::json settings(const std::string& attention, int seed, int factor) {
    auto resolved = trial(attention, {}, seed);
    resolved["train"]["steps"] = 60 * factor, resolved["train"]["warmup"] = 6 * factor;
    resolved["train"]["evaluate_every"] = 0;
    return resolved;
  }

  explicit Longer(const std::vector<LongerPoint>& points, const std::string& direction = "max") {
    Store store(file());
    store.put_metrics({{"test/accuracy", "%", direction, ""}});
    const auto experiment = store.put_experiment({"study", "", "study.toml", "[grid]", {}});
    std::vector<GridTrial> grid;
    for (const int factor : {1, 5})
      for (const auto& point : points) {
        if (factor > 1 && point.longer == kNotPlanned) continue;
        const auto resolved = settings(point.attention, point.seed, factor);
        grid.push_back({key_of(resolved), resolved, std::nullopt, factor == 1 ? Role::kReported : Role::kLonger});
      }
    store.put_trials(experiment, grid);
    for (const int factor : {1, 5})
      for (const auto& point : points) {
        auto attempt = done(settings(point.attention, point.seed, factor), factor == 1 ? point.value : point.longer);
        attempt.main_metric = "test/accuracy";
        if (factor == 1 || point.longer >= 0) store.put_attempt(attempt);
      }
  }

  Table table(std::vector<std::string> experiments = {"study"}, std::vector<std::string> rows = {}) const {
    return make_table(Reader(file()), {.experiments = std::move(experiments),
                                       .rows = std::move(rows),
                                       .smallest_of = [](const std::string&) { return 5.0; }});
  }
  std::filesystem::path file() const { return folder_ / "a.db"; }

 private:
  Folder folder_;
};

}  // namespace ablate::db
