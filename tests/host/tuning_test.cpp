// [grid.tune]: axes of tuned parameters. Trials that differ only in tuned values and seeds share a cell.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/host/scheduler/identity.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::errors;
using studies::labels;
using studies::load;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 7 of a study. Text that a test appends starts at line 8.
const std::string kGrid =
    "[task]\nplugin = \"image\"\n[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n[grid.tune]\n"
    "train.learning_rate = [1e-3, 3e-3, 1e-2]\n";

std::vector<std::int64_t> cells(const ablate::Study& study) {
  std::vector<std::int64_t> all;
  for (const auto& trial : study.trials) all.push_back(trial.cell.value_or(-1));
  return all;
}

/// Returns the different values of a parameter of [train], in the order of the trials.
std::vector<double> values(const ablate::Study& study, const std::string& name) {
  std::vector<double> all;
  for (const auto& trial : study.trials)
    if (const double value = trial.resolved().at("train").at(name); std::find(all.begin(), all.end(), value) == all.end())
      all.push_back(value);
  return all;
}

// Lines 1 to 5 of a study. Text that a test appends is in [grid.tune], from line 6 on.
const std::string kDrawn = "[task]\nplugin = \"image\"\n[attention]\nplugin = \"softmax\"\n[grid.tune]\n";
const std::string kRate = "train.learning_rate = { log-uniform = [1e-4, 1e-1] }\n";

}  // namespace

TEST_CASE("a tuned parameter makes the same trials as an axis, in the same order") {
  const auto tuned = load(kGrid);
  auto text = kGrid;
  text.erase(text.find("[grid.tune]\n"), 12);
  const auto plain = load(text);
  REQUIRE(tuned.trials.size() == 12);
  REQUIRE(plain.trials.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(tuned.trials[i].resolved() == plain.trials[i].resolved());
    CHECK(tuned.trials[i].label == plain.trials[i].label);
    const auto identity = [](const ablate::Trial& trial) {
      return ablate::identity_of(trial.spec, trial.files, studies::catalog(), "data", "2.11.0").key();
    };
    CHECK(identity(tuned.trials[i]) == identity(plain.trials[i]));
  }
  CHECK(cells(plain) == std::vector<std::int64_t>(12, -1));
  CHECK(cells(tuned) == std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("a cell joins trials that differ only in tuned values and seeds") {
  const auto study =
      load(kGrid + "model.dropout = [0.0, 0.1]\n[[grid.zip]]\nmodel.d_model = [32, 64]\nmodel.hidden = [64, 128]\n");
  REQUIRE(study.trials.size() == 2 * 2 * 3 * 2 * 2);
  std::map<std::int64_t, int> sizes;
  for (const auto cell : cells(study)) ++sizes[cell];
  CHECK(sizes == std::map<std::int64_t, int>{{0, 12}, {1, 12}, {2, 12}, {3, 12}});
  // Every value of an axis can be tuned.
  CHECK(cells(load("[task]\nplugin = \"image\"\n[attention]\nplugin = \"compressed\"\n[grid.tune]\nattention.compression = [{ "
                   "plugin = \"segment-mean\" }, { plugin = \"rbf\", width = 2 }]\n")) == std::vector<std::int64_t>{0, 0});
  // A value may be excluded from a cell.
  CHECK(cells(load(kGrid + "[[grid.exclude]]\nattention.plugin = \"softmax\"\ntrain.learning_rate = 1e-2\n")) ==
        std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("an override replaces tuned values, or sets one value without a choice") {
  CHECK(cells(load(kGrid, {"train.learning_rate=1e-3"})) == std::vector<std::int64_t>(4, -1));
  CHECK(cells(load(kGrid, {"train.learning_rate=[1e-3, 1e-4]", "seeds=1"})) == std::vector<std::int64_t>{0, 0, 1, 1});
  CHECK(errors(kGrid, {"train.learning_rate=[1e-3]"}) ==
        Names{"--set: train.learning_rate=[1e-3]: train.learning_rate is tuned, but has only one value: give it several "
              "values, or set it in [train]"});
}

TEST_CASE("parameters that cannot be tuned are reported at their place") {
  struct Case {
    std::string text;
    Names expected;
  };
  const std::string start = "[task]\nplugin = \"image\"\n[attention]\nplugin = \"softmax\"\n";  // lines 1 to 4
  const std::vector<Case> cases = {
      {kGrid + "train.learning_rte = [1e-3, 1e-4]\n",
       {"8:7: unknown key learning_rte in [train] (did you mean learning_rate?)"}},
      {kGrid + "trian.learning_rate = [1e-3, 1e-4]\n",
       {"8:7: unknown section trian in trian.learning_rate (did you mean train?)"}},
      {kGrid + "train.steps = 5\n", {"8:15: train.steps = 5: expected a list of values; a single value belongs in [train]"}},
      {kGrid + "train.steps = [5]\n",
       {"8:16: train.steps is tuned, but has only one value: give it several values, or set it in [train]"}},
      {kGrid + "train.steps = []\n", {"8:15: train.steps is an empty list; leave it out or give it values"}},
      {kGrid + "attention.plugin = [\"softmax\", \"linear\"]\n",
       {"8:11: attention.plugin is set by two parts of the grid, the other part is at FILE:5:11; keep one"}},
      {kGrid + "task.pool = [1, 2]\n",
       {"8:6: task.pool changes the task, so dev metrics of its values cannot be compared; make it an axis of [grid]"}},
      {kGrid + "train.shuffle_labels = [true, false]\n",
       {"8:7: train.shuffle_labels changes the labels, so dev metrics of its values cannot be compared; make it an axis of "
        "[grid]"}},
      {kGrid + "train.evaluate_batches = [1, 2]\n",
       {"8:7: train.evaluate_batches changes which examples of dev are read, so dev metrics of its values cannot be compared; "
        "make it an axis of [grid]"}},
      {kGrid + "train.stride = [0, 8]\n",
       {"8:7: train.stride changes how dev is evaluated, so dev metrics of its values cannot be compared; make it an axis of "
        "[grid]"}},
      {start + "[grid.tune]\ntrain = [{ steps = 5, shuffle_labels = true }, { steps = 6 }]\n",
       {"6:23: train.shuffle_labels changes the labels, so dev metrics of its values cannot be compared; make it an axis "
        "of [grid]"}},
      {kGrid + "seeds = [101, 2]\n",
       {"8:15: seed 2 is in grid.tune.seeds, for comparing values, and in grid.seeds, for reporting the chosen value; give "
        "grid.tune other seeds, as in seeds = [101, 102]"}},
      {start + "[grid.tune]\nseeds = [101]\n",
       {"6:1: grid.tune.seeds is for comparing values, and grid.tune has no values; add path = [values]"}},
      {kGrid + "seeds = [-1]\n",
       {"8:10: seeds = -1: expected a list of integers (0 or more), or a number of seeds: 3 means 1, 2, 3"}},
      {kGrid + "seeds = [101, 102]\n[[grid.exclude]]\nattention.plugin = \"softmax\"\nseed = [101, 102]\n",
       {"8:9: an exclude rule removes all seeds on which a setting's value is chosen; keep a seed of grid.tune.seeds"}},
      {kGrid + "seeds = [101, 102]\n[[grid.exclude]]\nattention.plugin = \"softmax\"\nseed = [1, 2]\n",
       {"8:9: an exclude rule removes all seeds on which a setting's value is reported; keep a seed of grid.seeds"}},
      {kGrid + "rows = [{ train.steps = 5 }]\n", {"8:1: grid.tune holds only axes, path = [values]; rows belongs in [grid]"}},
      {start + "[grid]\ntune = [\"train.learning_rate\"]\n",
       {"6:1: grid.tune is a table; write [grid.tune], and in it path = [values]"}},
      {start + "[[grid.tune]]\ntrain.steps = [1, 2]\n",
       {"5:8: grid.tune is a table; write [grid.tune], and in it path = [values]"}},
      {start + "[grid.tune]\n", {"5:1: grid.tune is empty; leave it out or fill it"}},
      {start + "[grid.tuen]\ntrain.steps = [1, 2]\n", {"5:7: unknown part tuen of [grid] (did you mean tune?)"}},
      {kGrid + "[[grid.exclude]]\ntrain.learning_rate = 1e-2\nseed = 1\n",
       {"7:36: train.learning_rate = 0.01: an exclude rule leaves out some of its seeds, and means over different "
        "seeds cannot be compared; exclude all of its seeds, or none"}},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    CHECK(errors(text) == expected);
  }
}

TEST_CASE("batches of several sizes are compared by the same examples of dev, or not at all") {
  const auto study = [](const std::string& train) { return "[train]\n" + train + kGrid + "train.batch = [8, 16]\n"; };
  CHECK(load(study("")).trials.size() == 24);
  CHECK(errors(study("evaluate_batches = 20\n")) ==
        Names{"10:19: grid.tune compares train.batch = 16 and 8, and train.evaluate_batches = 20 is the number of dev batches: "
              "the two batch sizes read different examples of dev, so metrics cannot be compared; set "
              "train.evaluate_batches = 0, or make train.batch an axis of [grid]"});
  // An axis is not tuned: each batch size has cells of its own.
  CHECK(load("[train]\nevaluate_batches = 20\n" + kGrid + "[[grid.zip]]\ntrain.batch = [8, 16]\n").trials.size() == 24);
}

TEST_CASE("a study lists its tuned parameters") {
  CHECK(load(kGrid + "train.steps = [5, 6]\n").tuned == Names{"train.learning_rate", "train.steps"});
  CHECK(load(kGrid, {"train.learning_rate=1e-3"}).tuned.empty());
}

TEST_CASE("values are compared on separate seeds, and reported on other seeds") {
  const auto apart = kGrid + "seeds = [101, 102]\n";
  const auto study = load(apart);
  CHECK(study.tuning_seeds == std::vector<std::uint64_t>{101, 102});
  REQUIRE(study.trials.size() == 2 * 3 * 4);
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const auto& trial = study.trials[i];
    CHECK(trial.spec.seed == std::vector<std::uint64_t>{101, 102, 1, 2}[i % 4]);
    CHECK((trial.role == ablate::Role::kTuning) == (i % 4 < 2));
    CHECK(trial.cell == static_cast<std::int64_t>(i / 12));
    CHECK(trial.value == static_cast<std::int64_t>(i / 4 % 3));
  }
  // The trials are the same as with these seeds in [grid].
  const auto plain = load(kGrid, {"seeds=[101, 102, 1, 2]"});
  REQUIRE(plain.trials.size() == study.trials.size());
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    CHECK(plain.trials[i].resolved() == study.trials[i].resolved());
    CHECK(plain.trials[i].role == ablate::Role::kReported);
  }
  CHECK(plain.tuning_seeds.empty());
  CHECK(load(kGrid + "seeds = 2\n", {"seeds=[11, 12, 13]"}).trials.size() == 2 * 3 * 5);  // seeds = 2 means seeds 1 and 2
}

TEST_CASE("without a choice there are no tuning seeds") {
  const auto left = load(kGrid + "seeds = [101, 102]\n", {"train.learning_rate=1e-3"});
  CHECK(left.tuning_seeds.empty());
  CHECK(left.trials.size() == 2 * 2);
  CHECK(errors(kGrid + "seeds = [101, 102]\n", {"seeds=[102]"}) ==
        Names{"8:15: seed 102 is in grid.tune.seeds, for comparing values, and in grid.seeds, for reporting the chosen value; "
              "give grid.tune other seeds, as in seeds = [101, 102]"});
}

TEST_CASE("a published number belongs to the reported trials") {
  const auto study = load(kGrid +
                          "seeds = [101]\n[[published]]\nsource = \"A paper\"\nvalues = [{ attention.plugin = "
                          "\"linear\", \"test/accuracy\" = 40 }]\n");
  REQUIRE(study.published.size() == 3 * 2);
  for (const auto& number : study.published) CHECK(study.trials[number.trial].role == ablate::Role::kReported);
}

TEST_CASE("points are drawn from ranges before anything runs, and are the same on any machine at any time") {
  const auto study = load(kDrawn + "points = 3\n" + kRate + "train.weight_decay = { uniform = [0, 0.2] }\n" +
                          "[grid]\nseeds = 2\nmodel.layers = [1, 2]\n");
  CHECK(study.tuned == Names{"train.learning_rate", "train.weight_decay"});
  CHECK(cells(study) == std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
  const std::vector<double> rates = values(study, "learning_rate"), decays = values(study, "weight_decay");
  // The expected values were computed with Python's Mersenne twister and SHA-256.
  CHECK(rates == std::vector<double>{0.0025, 0.000101, 0.00169});
  CHECK(decays == std::vector<double>{0.0838, 0.188, 0.0132});
  // Both parameters are drawn together: there are three points, not nine.
  CHECK(study.trials[2].resolved().at("train").at("learning_rate") == rates[1]);
  CHECK(study.trials[2].resolved().at("train").at("weight_decay") == decays[1]);
  // A study that lists a drawn value makes the same trial.
  const auto written = load(kDrawn + fmt::format("train.learning_rate = [{}, 1.0]\n", rates[0]) +
                            fmt::format("[train]\nweight_decay = {}\n[model]\nlayers = 1\n", decays[0]));
  const auto key = [](const ablate::Trial& trial) {
    return ablate::identity_of(trial.spec, trial.files, studies::catalog(), "data", "2.11.0").key();
  };
  CHECK(key(written.trials[0]) == key(study.trials[0]));
}

TEST_CASE("more points, or another range, keep the points that were drawn before; another seed draws other points") {
  const auto rates = [](const std::string& more) { return values(load(kDrawn + kRate + more), "learning_rate"); };
  const auto few = rates("points = 4\n"), many = rates("points = 40\n");
  REQUIRE(many.size() == 40);
  CHECK(std::equal(few.begin(), few.end(), many.begin()));
  CHECK(rates("points = 4\npoint_seed = 1\n") == few);
  CHECK(rates("points = 4\ntrain.weight_decay = { uniform = [0, 0.2] }\n") == few);
  const auto other = rates("points = 4\npoint_seed = 2\n");
  for (const double rate : other) CHECK(std::find(many.begin(), many.end(), rate) == many.end());
  // A list multiplies the points.
  CHECK(load(kDrawn + kRate + "points = 4\nmodel.layers = [1, 2]\n").trials.size() == 8);
}

TEST_CASE("points are uniform in a range, or in its logarithm, between its ends, with three digits") {
  for (const bool logarithmic : {true, false}) {
    const auto drawn = values(load(kDrawn + "points = 400\ntrain.weight_decay = { " +
                                   (logarithmic ? "log-uniform" : "uniform") + " = [1e-3, 1.0] }\n"),
                              "weight_decay");
    REQUIRE(drawn.size() == 400);
    const auto below = [&](double bound) {
      return std::count_if(drawn.begin(), drawn.end(), [&](double value) { return value < bound; });
    };
    INFO("logarithmic " << logarithmic);
    for (const double share : {0.25, 0.5, 0.75})  // 26: 3 standard deviations at 0.25 and 0.75, 2.6 at 0.5
      CHECK(std::abs(below(logarithmic ? std::pow(10, 3 * share - 3) : 1e-3 + share * 0.999) - 400 * share) < 26);
    for (const double value : drawn) {
      CHECK((value >= 1e-3 && value <= 1));
      CHECK(value == std::stod(fmt::format("{:.2e}", value)));
    }
  }
}

TEST_CASE("an override replaces drawn points") {
  const auto text = kDrawn + "points = 4\n" + kRate;
  CHECK(cells(load(text, {"train.learning_rate=1e-3"})) == std::vector<std::int64_t>{-1});
  CHECK(values(load(text, {"train.learning_rate=[1e-3, 1e-4]"}), "learning_rate") == std::vector<double>{1e-3, 1e-4});
  const auto both = text + "train.weight_decay = { uniform = [0, 0.2] }\n";
  const auto left = load(both, {"train.learning_rate=1e-3"});
  CHECK(left.tuned == Names{"train.weight_decay"});
  CHECK(values(left, "weight_decay") == values(load(both), "weight_decay"));
}

TEST_CASE("invalid ranges are reported at their place") {
  const std::string points = "points = 4\n";  // line 6
  const auto range = [&](const std::string& given) {
    return errors(kDrawn + points + "train.learning_rate = " + given + "\n");
  };
  CHECK(range("{ log-uniform = [1e-4] }") ==
        Names{"7:39: train.learning_rate = { log-uniform = [0.0001] }: expected two numbers, [lowest, highest]"});
  CHECK(range("{ log-uniform = [0, 1] }") ==
        Names{"7:39: train.learning_rate = { log-uniform = [0,1] }: expected ends above 0, because their logarithms are used"});
  CHECK(range("{ uniform = [0.2, 0.1] }") ==
        Names{"7:35: train.learning_rate = { uniform = [0.2,0.1] }: expected the lower end first, then a higher end"});
  CHECK(range("{ uniform = [0.1, inf] }") ==
        Names{"7:35: train.learning_rate = { uniform = [0.1,null] }: expected the lower end first, then a higher end"});
  CHECK(range("{ uniform = [0.1, 0.1001] }") == Names{"7:35: of 4 drawn points only 1 differ in three digits; ask "
                                                      "for fewer points, or make the ranges wider"});
  CHECK(errors(kDrawn + kRate) == Names{"6:39: a range is tried at random points, and grid.tune does not set their number; add "
                                        "points = 8 to it"});
  CHECK(errors(kDrawn + kRate + "points = 1\n") == Names{"7:10: grid.tune.points = 1: expected a whole number in [2, 100000]"});
  CHECK(errors(kDrawn + kRate + points + "point_seed = -1\n") ==
        Names{"8:14: grid.tune.point_seed = -1: expected a whole number in [0, 9223372036854775807]"});
  CHECK(errors(kDrawn + points + "train.learning_rate = [1e-3, 1e-4]\n") ==
        Names{"6:1: grid.tune.points needs a range, and there is none; write one, as in train.learning_rate = { log-uniform = "
              "[1e-4, 1e-1] }"});
  CHECK(errors(kDrawn + points + kRate + "[[grid.zip]]\ntrain.learning_rate = [1e-3, 1e-4]\ntrain.steps = [5, 6]\n") ==
        Names{"7:25: train.learning_rate is set by two parts of the grid, the other part is at FILE:9:7; keep one"});
}
