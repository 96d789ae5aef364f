// [grid.longer]: trials that repeat reported trials with more steps.
#include "core/host/study/longer.h"

#include <map>
#include <set>

#include "core/host/scheduler/identity.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using ablate::Role;
using studies::errors;
using studies::load;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 10 of a study. Text that a test appends is in [grid.longer], from line 11 on.
const std::string kLonger =
    "[experiment]\nsmallest = 5.0\n[task]\nplugin = \"image\"\n[train]\nsteps = 60\n[grid]\nseeds = [4, 5, 6]\n"
    "attention.plugin = [\"softmax\", \"linear\"]\n[grid.longer]\n";

}  // namespace

TEST_CASE("each setting also runs with more steps, on the first two seeds") {
  const auto study = load(kLonger + "factor = 5\n", {"train.warmup=6", "train.evaluate_every=20"});
  const auto plain = load(
      "[task]\nplugin = \"image\"\n[train]\nsteps = 60\nwarmup = 6\nevaluate_every = 20\n[grid]\nseeds = "
      "[4, 5, 6]\nattention.plugin = [\"softmax\", \"linear\"]\n");
  CHECK(study.longer_factor == 5);
  CHECK(study.smallest == 5.0);
  REQUIRE(study.trials.size() == 2 * 3 + 2 * 2);
  std::set<std::string> keys;
  for (std::size_t i = 0; i < study.trials.size(); ++i) {
    const auto& trial = study.trials[i];
    keys.insert(ablate::identity_of(trial.spec, trial.files, studies::catalog(), "data", "2.11.0").key());
    if (i < 6) {
      CHECK(trial.role == Role::kReported);
      CHECK(trial.resolved() == plain.trials[i].resolved());
      continue;
    }
    CHECK(trial.role == Role::kLonger);
    auto expected = plain.trials[i < 8 ? i - 6 : i - 8 + 3].resolved();
    expected["train"]["steps"] = 300, expected["train"]["warmup"] = 30, expected["train"]["evaluate_every"] = 100;
    CHECK(trial.resolved() == expected);
  }
  CHECK(keys.size() == study.trials.size());
  CHECK(study.trials.front().label == "attention=softmax train.steps=60 seed=4");
  CHECK(study.trials.back().label == "attention=linear train.steps=300 seed=5");
}

TEST_CASE("longer trials have the seeds of [grid.longer], else the usual seeds") {
  const auto seeds_of = [](const ablate::Study& study) {
    std::vector<std::uint64_t> seeds;
    for (const auto& trial : study.trials)
      if (trial.role == Role::kLonger) seeds.push_back(trial.spec.seed);
    return seeds;
  };
  using Seeds = std::vector<std::uint64_t>;
  CHECK(seeds_of(load(kLonger + "factor = 2\nseeds = [6]\n")) == Seeds{6, 6});
  CHECK(seeds_of(load(kLonger + "factor = 2\nseeds = [6]\n", {"seeds=[6, 7]"})) == Seeds{6, 6});
  // An override that leaves none of these seeds gives the usual seeds.
  CHECK(seeds_of(load(kLonger + "factor = 2\nseeds = [6]\n", {"seeds=[7, 8, 9]"})) == Seeds{7, 8, 7, 8});
  CHECK(seeds_of(load(kLonger + "factor = 2\n", {"seeds=[7]"})) == Seeds{7, 7});
}

TEST_CASE("longer trials belong to the cells of tuned values, and tuning trials are not repeated") {
  const auto study = load(kLonger + "factor = 3\n[grid.tune]\nseeds = [101]\ntrain.learning_rate = [1e-3, 3e-3]\n");
  std::map<Role, int> counts;
  std::set<std::pair<std::int64_t, std::int64_t>> values;
  for (const auto& trial : study.trials) {
    ++counts[trial.role];
    if (trial.role != Role::kLonger) continue;
    CHECK(trial.spec.seed != 101);
    values.emplace(trial.cell.value(), trial.value);
  }
  CHECK(counts == std::map<Role, int>{{Role::kTuning, 4}, {Role::kReported, 12}, {Role::kLonger, 8}});
  CHECK(values == std::set<std::pair<std::int64_t, std::int64_t>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
  CHECK(study.waits_for_dev());
  CHECK(study.comparing_role() == Role::kTuning);
}

TEST_CASE("an impossible control is refused with its line") {
  CHECK(errors(kLonger) ==
        Names{"10:1: grid.longer has no factor; expected the number that multiplies the steps, as in factor = 5"});
  CHECK(errors(kLonger + "factor = 1\n") == Names{"11:10: grid.longer.factor = 1: expected a whole number in [2, 1000]"});
  CHECK(errors(kLonger + "factor = 2.5\n") == Names{"11:10: grid.longer.factor = 2.5: expected a whole number in [2, 1000]"});
  CHECK(errors(kLonger + "factor = 2\nseed = [4]\n") == Names{"12:1: unknown key seed in [grid.longer] (did you mean seeds?)"});
  CHECK(
      errors(kLonger + "factor = 2\nseeds = [4, 9]\n") ==
      Names{"12:13: seed 9 of grid.longer.seeds is not in grid.seeds: the control compares each trial with the reported trial "
            "of the same seed; add the seed to grid.seeds, or leave it out here"});
  CHECK(errors(kLonger + "factor = 2\n[[grid.zip]]\ntrain.steps = [5, 6]\n") ==
        Names{"13:7: the grid varies train.steps, and grid.longer repeats its trials with other steps: keep one of the two"});
  CHECK(errors("[task]\nplugin = \"image\"\n[grid]\nattention.plugin = [\"softmax\"]\nlonger = { factor = 2 }\n") ==
        Names{"5:10: grid.longer needs [experiment] smallest: the smallest difference of the main metric that matters in this "
              "study, as in smallest = 5.0. A row that gains as much with more steps is marked"});
  CHECK(errors(kLonger + "factor = 1000\n", {"train.steps=2000000"}) ==
        Names{"11:10: grid.longer.factor = 1000 multiplies 2000000 to 2000000000, expected at most 1000000000 steps; lower the "
              "factor"});
  CHECK(errors("[task]\nplugin = \"image\"\n[grid]\nattention.plugin = [\"softmax\"]\nlonger = 5\n")[0] ==
        "5:1: grid.longer is a table; write [grid.longer], and in it factor = 5");
}

TEST_CASE("the smallest difference is read again from a stored study") {
  CHECK(ablate::smallest_of("[experiment]\nsmallest = 2.5\n", "a.toml", {}) == 2.5);
  CHECK(ablate::smallest_of("[experiment]\nsmallest = 2.5\n", "a.toml", {"experiment.smallest=4"}) == 4);
  CHECK(ablate::smallest_of("[train]\nsteps = 5\n", "a.toml", {}) == 0);
  CHECK(ablate::smallest_of("not TOML", "a.toml", {}) == 0);
}
