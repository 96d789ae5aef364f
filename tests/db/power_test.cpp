// Number of seeds that a difference needs, as `ablate power` computes it.
#include "db/report/inference/power.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "db/report/answer_rows.h"
#include "db/report/inference/holm.h"
#include "tests/db/seeds_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

TEST_CASE("power: the smallest effect that some seeds detect, and the number of seeds that a difference needs") {
  auto noise = plus(kEight, 1);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] += i % 2 == 0 ? 1 : -1;
  const Study study({{"softmax", kEight}, {"noisy", noise}, {"exact", plus(kEight, 3)}});
  const auto table = study.table({"attention=softmax"});
  const auto power = power_rows(table, 1);
  REQUIRE(power.rows.size() == 2);
  CHECK(power.names == std::vector<std::string>{"attention", "metric", "n", "difference", "deviation", "least told",
                                                "seeds needed", "why not known"});
  const double deviation = std::sqrt(8.0 / 7);
  for (const auto& row : power.rows) {
    const bool noisy = row[0] == "noisy";
    CHECK(row[2] == 8);
    CHECK(row[3].get<double>() == Approx(noisy ? 1 : 3));
    CHECK(row[4].get<double>() == Approx(noisy ? deviation : 0).margin(1e-6));
    CHECK(row[5].get<double>() == Approx(noisy ? least_effect(8, kLevel / 2) * deviation : 0).margin(1e-6));
    CHECK(power_rows(table, std::nullopt)
              .rows[noisy ? 1 : 0][6]
              .is_null());  // seeds for the observed difference are not computed
    CHECK(row[6] == (noisy ? seeds_for(1 / deviation, kLevel / 2) : 7));
  }
  CHECK(power_rows(table, 10.0).rows[0][6] == 7);  // the least number for the exact test
}

TEST_CASE("power: output for people has digits and units, and a reason for each unknown number") {
  const Study study({{"softmax", {1, 2, 4}}, {"linear", {2.01, 3.52, 4.37}}, {"equal", {1.5, 2.5, 3}}, {"one", {7}}});
  const auto data = power_rows(study.table({"attention=softmax"}), std::nullopt);
  const auto text = power_rows(study.table({"attention=softmax"}), std::nullopt, true);
  REQUIRE(data.rows.size() == 3);
  const auto row = [](const NamedRows& rows, const std::string& name) {
    for (const auto& one : rows.rows)
      if (one[0] == name) return one;
    return std::vector<nlohmann::json>();
  };
  CHECK(row(text, "linear")[1] == "test/accuracy (%)");
  CHECK(row(text, "linear")[3] == "0.97");
  CHECK(row(text, "linear")[5] == "-");  // three pairs cannot reach the level
  CHECK(has(row(text, "linear")[7].get<std::string>(), "of 3 pairs cannot reach the level; 7 pairs can"));
  CHECK(row(data, "linear")[5].is_null());
  CHECK(row(data, "equal")[6].is_null());
  CHECK(row(text, "one")[4] == "-");
  CHECK(row(text, "one")[7] == "its numbers come from one seed");
}

TEST_CASE("power: contrasts are the contrasts that the table tests") {
  const Study study({{"softmax", kEight}, {"above", plus(kEight, 2)}, {"far", plus(kEight, 5)}});
  const auto power = power_rows(study.table_with({{"contrasts", {"attention=above", "attention=softmax"}}}), 1);
  CHECK(power.names[1] == "second");
  REQUIRE(power.rows.size() == 1);
  CHECK(power.rows[0][0] == "above");
  CHECK(power.rows[0][1] == "softmax");
  CHECK(power.rows[0][7] == 6);  // for one comparison
}

TEST_CASE("power: the power is the t test's power if the table uses the t test") {
  const Study study({{"softmax", {1, 2, 4}}, {"linear", {2.01, 3.52, 4.37}}});
  const auto power = power_rows(study.table_with({{"against", {"attention=softmax"}}, {"test", {"t"}}}), 1);
  REQUIRE(power.rows.size() == 1);
  const double deviation = power.rows[0][4].get<double>();
  CHECK(power.rows[0][5].get<double>() == Approx(least_effect(3, kLevel, true) * deviation));
  CHECK(power.rows[0][6] == seeds_for(1 / deviation, kLevel, true));
  CHECK(power.rows[0][7] == "");
}
