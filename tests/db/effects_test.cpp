// `ablate effects`: marginal means over matched settings, importance, changes of a single parameter.

#include "db/report/effects.h"

#include <array>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "db/questions/tables/make_table.h"
#include "db/report/answer_rows.h"
#include "db/report/matched_means.h"
#include "tests/db/seeds_study.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::db;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double t_quantile(double freedom) { return boost::math::quantile(boost::math::students_t(freedom), 0.975); }

struct Setting {
  std::vector<std::string> labels;
  std::vector<Sample> samples;
};

/// Returns a table of settings, as make_table would return it, with one metric for which larger values are better.
Table settings_of(const std::vector<std::string>& paths, const std::vector<Setting>& settings) {
  Table table{.row_paths = paths};
  table.columns = {{}}, table.column_values = {{}};
  table.metrics = {{"test/accuracy", "%", "max", ""}};
  for (const auto& [labels, samples] : settings) {
    table.rows.push_back(labels);
    table.row_values.emplace_back(labels.begin(), labels.end());
    Cell cell;
    cell.trials = static_cast<int>(samples.size()), cell.samples = samples;
    table.cells.push_back(cell);
  }
  run_statistics({}, table);
  return table;
}

std::vector<Setting> one_seed(const std::vector<std::pair<std::vector<std::string>, double>>& settings) {
  std::vector<Setting> all;
  for (const auto& [labels, value] : settings) all.push_back({labels, {{1, value}}});
  return all;
}

const Effects::Parameter& parameter(const Effects& effects, const std::string& path) {
  for (const auto& one : effects.parameters)
    if (one.path == path) return one;
  throw Error("no parameter " + path);
}

const Effects::Value& value(const Effects& effects, const std::string& path, const std::string& text) {
  for (const auto& one : parameter(effects, path).values)
    if (one.text == text) return one;
  throw Error("no value " + text);
}

bool notes(const Effects& effects, const std::string& part) {
  return std::any_of(effects.notes.begin(), effects.notes.end(), [&](const auto& note) { return has(note, part); });
}

/// Adamra at two rates, and softmax. Each runs with the pools 2 and 4 and with two seeds.
class Nested {
 public:
  Nested() : store_(file_) {
    std::vector<nlohmann::json> trials;
    std::vector<double> values;
    const auto add = [&](const std::string& attention, const std::vector<std::string>& rates, int pool, double accuracy) {
      for (const int seed : {1, 2}) {
        auto resolved = trial(attention, rates, seed);
        resolved["task"]["pool"] = pool;
        trials.push_back(resolved), values.push_back(accuracy + (seed == 2 ? 1 : 0));
      }
    };
    add("softmax", {}, 2, 60), add("softmax", {}, 4, 50);
    add("adamra", {"1/2"}, 2, 66), add("adamra", {"1/2"}, 4, 54);
    add("adamra", {"1/8"}, 2, 62), add("adamra", {"1/8"}, 4, 50);
    put(store_, "study", trials);
    for (std::size_t i = 0; i < trials.size(); ++i) store_.put_attempt(done(trials[i], values[i]));
  }
  Effects effects(const std::vector<std::string>& reference = {}) const {
    return db::effects(Reader(file_), {{"study"}, {"test/accuracy"}, {}, reference}).at(0);
  }
  std::string refused(const std::vector<std::string>& reference, const std::vector<std::string>& metrics = {},
                      const std::vector<std::string>& where = {}) const {
    return error_of([&] { db::effects(Reader(file_), {{"study"}, metrics, where, reference}); });
  }

 private:
  Folder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  Store store_;
};

}  // namespace

TEST_CASE("matched means: for full blocks they equal the plain means, with the interval of the additive residual") {
  const std::array<BlockNumber, 6> numbers{{{0, 0, 1}, {1, 0, 3}, {0, 1, 2}, {1, 1, 5}, {0, 2, 6}, {1, 2, 7}}};
  const auto means = matched_means({{0, 1}, {0, 1, 2}}, numbers);
  const double half = t_quantile(2) * std::sqrt(0.5 / 3);  // 6 - 3 - 1 degrees of freedom, sum of squares 1
  CHECK(means[0].mean == Approx(3).epsilon(1e-14));
  CHECK(means[1].mean == Approx(5).epsilon(1e-14));
  CHECK(means[1].low == Approx(5 - half).epsilon(1e-12));
  CHECK(means[0].high == Approx(3 + half).epsilon(1e-12));
  CHECK(std::isnan(matched_means({{0, 1}, {1}}, numbers)[1].low));  // no degree of freedom is left for an interval
}

TEST_CASE("matched groups leave out settings that some values lack, or values that have too few settings") {
  const auto groups_of = [](const std::vector<std::vector<std::size_t>>& has, const std::vector<std::size_t>& settings) {
    std::vector<BlockNumber> numbers;
    for (std::size_t value = 0; value < has.size(); ++value)
      for (const auto block : has[value]) numbers.push_back({value, block, 1});
    std::vector<std::pair<std::vector<std::size_t>, std::vector<std::size_t>>> groups;
    for (const auto& group : matched_groups(has.size(), settings, numbers)) groups.emplace_back(group.values, group.blocks);
    return groups;
  };
  using Groups = decltype(groups_of({}, {}));
  const std::vector<std::size_t> own = {0, 1, 2, 3, 4};  // a setting for each block
  CHECK(groups_of({{0, 1, 2, 3}, {0, 1, 3}, {0, 1, 2, 3}}, own) == Groups{{{0, 1, 2}, {0, 1, 3}}});
  CHECK(groups_of({{0}, {0, 1, 2, 3}, {0, 1, 2, 3}, {1, 2, 3, 4}}, own) == Groups{{{1, 2, 3}, {1, 2, 3}}});
  CHECK(groups_of({{0, 1}, {2}, {0, 1}, {2}, {4}}, own) == Groups{{{0, 2}, {0, 1}}, {{1, 3}, {2}}});
  CHECK(groups_of({{0}, {1}, {2}}, own).empty());
  // The value with missing seeds is not excluded, because each setting has a seed that all values have.
  CHECK(groups_of({{0, 1, 2, 3}, {0, 1, 2, 3}, {0, 3}}, {0, 0, 0, 1}) == Groups{{{0, 1, 2}, {0, 3}}});
}

TEST_CASE("importance: for a full grid it equals the main effects of the functional ANOVA") {
  auto table = settings_of({"a", "b"}, one_seed({{{"0", "0"}, 0}, {{"0", "1"}, 2}, {{"1", "0"}, 4}, {{"1", "1"}, 10}}));
  const auto effects = effects_of(table, {}).at(0);
  CHECK(effects.full);
  CHECK(effects.parameters[0].path == "a");                  // the most important first
  CHECK(parameter(effects, "a").share == Approx(9.0 / 14));  // share of the variance; the means are 1 and 7
  CHECK(parameter(effects, "b").share == Approx(4.0 / 14));
  CHECK(effects.rest == Approx(1.0 / 14));
  CHECK(value(effects, "a", "1").mean == Approx(7));
  CHECK(notes(effects, "functional ANOVA"));
  // The means are equal up to rounding. In Python they are (0.1 + 0.2 + 0.3) / 3 and (0.3 + 0.2 + 0.1) / 3.
  auto equal = settings_of({"a"}, one_seed({{{"0"}, 0.20000000000000004}, {{"1"}, 0.19999999999999998}}));
  CHECK(std::isnan(parameter(effects_of(equal, {}).at(0), "a").share));
  CHECK(notes(effects_of(equal, {}).at(0), "every combination of the values has a number (2 settings)"));
  CHECK_FALSE(notes(effects_of(equal, {}).at(0), "Importance"));
}

TEST_CASE("importance: a parameter whose values have no common seed has no importance") {
  auto table = settings_of({"a"}, {{{"x"}, {{1, 10}, {2, 11}}}, {{"y"}, {{3, 20}, {4, 21}}}});
  const auto effects = effects_of(table, {}).at(0);
  CHECK(value(effects, "a", "x").unknown == "too few settings and seeds in common with other values");
  CHECK(std::isnan(parameter(effects, "a").share));
  CHECK(std::isnan(effects.rest));
  CHECK_FALSE(notes(effects, "Importance"));
}

TEST_CASE("importance: with missing cells it is the variance beyond the other parameters, as in statsmodels' type II") {
  auto small = settings_of({"a", "b"}, one_seed({{{"0", "0"}, 0}, {{"0", "1"}, 2}, {{"1", "0"}, 4}}));
  const auto holes = effects_of(small, {}).at(0);
  CHECK_FALSE(holes.full);
  CHECK(parameter(holes, "a").share == Approx(1));
  CHECK(parameter(holes, "b").share == Approx(0.25));

  auto table = settings_of({"a", "b", "c"}, one_seed({{{"0", "0", "0"}, 50.0},
                                                      {{"0", "1", "0"}, 52.9},
                                                      {{"0", "1", "1"}, 50.18},
                                                      {{"1", "0", "0"}, 51.33},
                                                      {{"1", "0", "1"}, 51.64},
                                                      {{"1", "1", "1"}, 52.03},
                                                      {{"2", "0", "0"}, 58.18},
                                                      {{"2", "0", "1"}, 61.02},
                                                      {{"2", "1", "0"}, 58.52}}));
  const auto effects = effects_of(table, {}).at(0);
  CHECK(parameter(effects, "a").share == Approx(0.9110047271515904).epsilon(1e-9));
  CHECK(parameter(effects, "b").share == Approx(0.0007969553816223528).epsilon(1e-9));
  CHECK(parameter(effects, "c").share == Approx(0.005090239645727394).epsilon(1e-9));
  CHECK(effects.rest == Approx(0.06950582033566671).epsilon(1e-9));
  CHECK(notes(effects, "type II"));
}

TEST_CASE("seeds that a value lacks, and diverged trials, are left out of the means and counted") {
  auto table = settings_of({"a"}, {{{"x"}, {{1, 10}, {2, 20}, {3, 36}}}, {{"y"}, {{2, 21}, {3, 33}}}});
  const auto effects = effects_of(table, {}).at(0);
  CHECK(value(effects, "a", "x").mean == Approx(28));  // not 22, because y has no seed 1
  CHECK(value(effects, "a", "y").mean == Approx(27));
  CHECK(value(effects, "a", "x").n == 2);

  auto diverged = settings_of({"a"}, {{{"x"}, {{1, 10}, {2, 20}}}, {{"y"}, {{1, kNaN}, {2, 24}}}, {{"z"}, {{1, kNaN}}}});
  const auto left = effects_of(diverged, {}).at(0);
  CHECK(value(left, "a", "x").mean == Approx(20));
  CHECK(value(left, "a", "y").mean == Approx(24));
  CHECK(value(left, "a", "y").without == 1);
  CHECK(std::isnan(value(left, "a", "z").mean));
  CHECK(value(left, "a", "z").unknown == "no trial has a number");
  CHECK(notes(left, "2 of 5 trials have no finite number"));
}

TEST_CASE("effects: a value that ran at few settings is listed, but not estimated from the results of other values") {
  // The value "flat" has 12 in every run. The numbers of the other values fall with the length.
  std::vector<Setting> settings;
  for (const auto& [length, value] : {std::pair("64", 100.0), {"128", 60.0}, {"256", 20.0}}) {
    settings.push_back({{"a", length}, {{1, value}, {2, value - 2}}});
    settings.push_back({{"b", length}, {{1, value - 4}, {2, value - 6}}});
  }
  settings.push_back({{"flat", "64"}, {{1, 12}, {2, 12}}});
  auto few = settings_of({"attention", "task.length"}, settings);
  auto effects = effects_of(few, {}).at(0);
  CHECK(value(effects, "attention", "a").mean == Approx(59));
  CHECK(value(effects, "attention", "b").mean == Approx(55));
  CHECK(std::isnan(value(effects, "attention", "flat").mean));
  CHECK(value(effects, "attention", "flat").unknown == "too few settings and seeds in common with other values");
  // If "flat" has run at two of three lengths, only these two are compared, and a note names the third length.
  settings.push_back({{"flat", "128"}, {{1, 12}, {2, 12}}});
  auto most = settings_of({"attention", "task.length"}, settings);
  effects = effects_of(most, {}).at(0);
  CHECK(value(effects, "attention", "flat").mean == Approx(12));
  CHECK(value(effects, "attention", "a").mean == Approx(79));
  CHECK(value(effects, "attention", "a").n == 4);
  CHECK(notes(effects, "attention: its means leave out settings that some compared values lack: task.length=256"));
}

TEST_CASE("effects: a parameter that has one value per setting because dev chose it is not matched") {
  std::vector<Setting> settings;
  const auto add = [&](const char* attention, const char* length, const char* rate, double value) {
    settings.push_back({{attention, length, rate}, {{1, value}, {2, value + 2}}});
  };
  add("a", "64", "0.1", 80), add("a", "128", "0.3", 60), add("b", "64", "0.3", 90), add("b", "128", "0.3", 50);
  auto chosen = settings_of({"attention", "task.length", "train.learning_rate"}, settings);
  auto effects = effects_of(chosen, {}).at(0);
  CHECK(value(effects, "attention", "a").mean == Approx(71));
  CHECK(value(effects, "attention", "b").mean == Approx(71));
  CHECK(value(effects, "task.length", "64").mean == Approx(86));
  CHECK(notes(effects, "train.learning_rate has one value for each setting of the others"));
  add("a", "128", "0.1", 10);  // the rate now varies independently, so values are matched by the rate
  auto varied = settings_of({"attention", "task.length", "train.learning_rate"}, settings);
  effects = effects_of(varied, {}).at(0);
  CHECK(value(effects, "attention", "a").mean == Approx(61));
  CHECK(value(effects, "attention", "b").mean == Approx(51));
  CHECK_FALSE(notes(effects, "has one value for each setting"));
}

TEST_CASE("effects: an attention is averaged over its own parameters, whose values are compared only within the attention") {
  const auto effects = Nested().effects();
  CHECK(value(effects, "attention", "softmax").mean == Approx(55.5));  // seeds differ by 1
  CHECK(value(effects, "attention", "adamra").mean == Approx(58.5));
  CHECK(value(effects, "attention.rates", "1/2").mean == Approx(60.5));
  CHECK(value(effects, "attention.rates", "1/8").mean == Approx(56.5));
  CHECK(parameter(effects, "attention.rates").values.size() == 2);  // softmax has no rates
  CHECK(value(effects, "task.pool", "2").mean == Approx(63.1666666667));
  CHECK(value(effects, "task.pool", "4").n == 6);
  CHECK_FALSE(effects.full);
  CHECK(notes(effects, "each value of attention is averaged over its attention.rates"));
}

TEST_CASE("effects: changes of a single parameter, tested as with --against") {
  const Study study({{"softmax", kEight}, {"linear", plus(kEight, 1)}, {"other", {60, 61, 62, 61, 60, 61, 62, 61}}});
  auto settings = study.table({});
  const auto against = study.table({"attention=softmax"});
  const auto effects = effects_of(settings, {"attention=softmax"}).at(0);
  REQUIRE(effects.changes.size() == 2);
  CHECK(effects.reference == "attention=softmax");
  for (const auto& change : effects.changes) {
    std::size_t row = 0;
    while (against.rows[row][0] != change.to) ++row;
    const auto& expected = against.cell(row, 0, 0).comparison();
    CHECK(change.from == "softmax");
    CHECK(change.difference.value == Approx(expected.value).epsilon(1e-14));
    CHECK(change.difference.low == Approx(expected.low).epsilon(1e-14));
    CHECK(change.difference.p == expected.p);
    CHECK(change.difference.p_holm == expected.p_holm);
    CHECK(change.difference.significance == expected.significance);
  }
  CHECK(effects.changes[0].difference.p == Approx(2.0 / 256));  // eight pairs with the same sign
  CHECK(effects.changes[0].difference.p_holm == Approx(4.0 / 256));
}

TEST_CASE("effects: parameters of a changed attention are no separate change, and two changes at once are left out") {
  const auto effects = Nested().effects({"attention=softmax", "task.pool=2"});
  REQUIRE(effects.changes.size() == 3);
  CHECK(effects.changes[0].path == "attention");
  CHECK(effects.changes[0].with == "attention.rates=1/2");
  CHECK(effects.changes[0].difference.value == Approx(6));
  CHECK(effects.changes[1].with == "attention.rates=1/8");
  CHECK(effects.changes[1].difference.value == Approx(2));
  CHECK(effects.changes[2].path == "task.pool");
  CHECK(effects.changes[2].to == "4");
  const auto rows = effect_rows({effects}, false);
  CHECK(rows.rows[0].size() == rows.names.size());
  CHECK(rows.rows[0][5] == 6);
}

TEST_CASE("effects: a wrong reference, metric or parameter is refused with the nearest name") {
  const Nested nested;
  CHECK(has(nested.refused({"atention=softmax"}), "did you mean attention?"));
  CHECK(has(nested.refused({"attention=sofmax"}), "did you mean attention=softmax?"));
  CHECK(has(nested.refused({"attention"}), "expected PATH=VALUE"));
  CHECK(has(nested.refused({"attention=adamra"}), "expected one; add --reference PATH=VALUE for"));
  CHECK(has(nested.refused({"task.pool=2"}), "--reference"));
  CHECK(has(nested.refused({"train.learning_rate=0.001"}), "does not vary among the settings"));
  CHECK(has(nested.refused({}, {"test/acuracy"}), "test/accuracy"));
  CHECK(has(nested.refused({}, {}, {"atention=softmax"}), "attention"));
  CHECK(has(nested.refused({}, {}, {"attention=softmax", "task.pool=2"}), "found no parameter that varies in study"));
  CHECK(reference_conditions("attention=adamra,attention.rates=1/2,1/4,task.pool=2") ==
        std::vector<std::string>{"attention=adamra", "attention.rates=1/2,1/4", "task.pool=2"});
}
