// [grid.tune]: axes like others, with cells.
#include "core/host/scheduler/identity.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::errors;
using studies::labels;
using studies::load;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 7; what follows starts at line 8.
const std::string kGrid =
    "[task]\nplugin = \"image\"\n[grid]\nseeds = 2\nattention.plugin = [\"softmax\", \"linear\"]\n[grid.tune]\n"
    "train.learning_rate = [1e-3, 3e-3, 1e-2]\n";

std::vector<std::int64_t> cells(const ablate::Study& study) {
  std::vector<std::int64_t> all;
  for (const auto& trial : study.trials) all.push_back(trial.cell.value_or(-1));
  return all;
}

}  // namespace

TEST_CASE("a tuned parameter is an axis: the same trials, in the same order") {
  const auto tuned = load(kGrid);
  auto text = kGrid;
  text.erase(text.find("[grid.tune]\n"), 12);
  const auto plain = load(text);
  REQUIRE(tuned.trials.size() == 12);
  REQUIRE(plain.trials.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(tuned.trials[i].resolved() == plain.trials[i].resolved());
    CHECK(tuned.trials[i].label == plain.trials[i].label);
    // What a key is made of.
    const auto identity = [](const ablate::Trial& trial) {
      return ablate::identity_of(trial.spec, trial.files, studies::catalog(), "data", "2.11.0").key();
    };
    CHECK(identity(tuned.trials[i]) == identity(plain.trials[i]));
  }
  CHECK(cells(plain) == std::vector<std::int64_t>(12, -1));
  CHECK(cells(tuned) == std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("a cell is what differs in tuned values and seeds alone") {
  const auto study =
      load(kGrid + "model.dropout = [0.0, 0.1]\n[[grid.zip]]\nmodel.d_model = [32, 64]\nmodel.hidden = [64, 128]\n");
  REQUIRE(study.trials.size() == 2 * 2 * 3 * 2 * 2);
  std::map<std::int64_t, int> sizes;
  for (const auto cell : cells(study)) ++sizes[cell];
  CHECK(sizes == std::map<std::int64_t, int>{{0, 12}, {1, 12}, {2, 12}, {3, 12}});
  // Whatever an axis may hold, may be tuned.
  CHECK(cells(load("[task]\nplugin = \"image\"\n[attention]\nplugin = \"compressed\"\n[grid.tune]\nattention.compression = [{ "
                   "plugin = \"segment-mean\" }, { plugin = \"rbf\", width = 2 }]\n")) == std::vector<std::int64_t>{0, 0});
  // A value may be left out of a cell.
  CHECK(cells(load(kGrid + "[[grid.exclude]]\nattention.plugin = \"softmax\"\ntrain.learning_rate = 1e-2\n")) ==
        std::vector<std::int64_t>{0, 0, 0, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("an override takes the place of tuned values, or of the choice") {
  CHECK(cells(load(kGrid, {"train.learning_rate=1e-3"})) == std::vector<std::int64_t>(4, -1));
  CHECK(cells(load(kGrid, {"train.learning_rate=[1e-3, 1e-4]", "seeds=1"})) == std::vector<std::int64_t>{0, 0, 1, 1});
  CHECK(errors(kGrid, {"train.learning_rate=[1e-3]"}) ==
        Names{"--set: train.learning_rate=[1e-3]: train.learning_rate is tuned, and has one value: give it several to choose "
              "from, or set it in [train]"});
}

TEST_CASE("what cannot be tuned is said at its place") {
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
      {kGrid + "train.steps = 5\n", {"8:15: train.steps = 5: expected a list of values; a single one belongs in [train]"}},
      {kGrid + "train.steps = [5]\n",
       {"8:16: train.steps is tuned, and has one value: give it several to choose from, or set it in [train]"}},
      {kGrid + "train.steps = []\n", {"8:15: train.steps is an empty list; leave it out or give it values"}},
      {kGrid + "attention.plugin = [\"softmax\", \"linear\"]\n",
       {"8:11: attention.plugin is set by two parts of the grid, the other is at FILE:5:11; keep one"}},
      {kGrid + "task.pool = [1, 2]\n",
       {"8:6: task.pool changes what is asked, so that dev metrics of its values do not compare; make it an axis of [grid]"}},
      {kGrid + "train.shuffle_labels = [true, false]\n",
       {"8:7: train.shuffle_labels changes what is learned, so that dev metrics of its values do not compare; make it an axis "
        "of "
        "[grid]"}},
      {kGrid + "train.evaluate_batches = [1, 2]\n",
       {"8:7: train.evaluate_batches changes which examples of dev are read, so that dev metrics of its values do not compare; "
        "make it an axis of [grid]"}},
      {kGrid + "train.stride = [0, 8]\n",
       {"8:7: train.stride changes what dev is asked with, so that dev metrics of its values do not compare; make it an axis "
        "of "
        "[grid]"}},
      {start + "[grid.tune]\ntrain = [{ steps = 5, shuffle_labels = true }, { steps = 6 }]\n",
       {"6:23: train.shuffle_labels changes what is learned, so that dev metrics of its values do not compare; make it an axis "
        "of [grid]"}},
      {kGrid + "seeds = [1, 2]\n", {"8:1: grid.tune holds axes alone, path = [values]; seeds belongs in [grid]"}},
      {kGrid + "rows = [{ train.steps = 5 }]\n", {"8:1: grid.tune holds axes alone, path = [values]; rows belongs in [grid]"}},
      {start + "[grid]\ntune = [\"train.learning_rate\"]\n",
       {"6:1: grid.tune is a table; write [grid.tune], and in it path = [values]"}},
      {start + "[[grid.tune]]\ntrain.steps = [1, 2]\n",
       {"5:8: grid.tune is a table; write [grid.tune], and in it path = [values]"}},
      {start + "[grid.tune]\n", {"5:1: grid.tune is empty; leave it out or fill it"}},
      {start + "[grid.tuen]\ntrain.steps = [1, 2]\n", {"5:7: unknown part tuen of [grid] (did you mean tune?)"}},
      {kGrid + "[[grid.exclude]]\ntrain.learning_rate = 1e-2\nseed = 1\n",
       {"7:36: train.learning_rate = 0.01: an exclude rule leaves out some of its seeds, and means over other seeds do not "
        "compare; exclude all of them, or none"}},
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
        Names{"10:19: train.batch = 16 is tuned beside 8, and train.evaluate_batches = 20 limits dev to so many batches: other "
              "examples of dev for each, whose metrics do not compare; set train.evaluate_batches = 0, or make train.batch an "
              "axis of [grid]"});
  // An axis is no choice: each batch has cells of its own.
  CHECK(load("[train]\nevaluate_batches = 20\n" + kGrid + "[[grid.zip]]\ntrain.batch = [8, 16]\n").trials.size() == 24);
}

TEST_CASE("a study says what it tunes") {
  CHECK(load(kGrid + "train.steps = [5, 6]\n").tuned == Names{"train.learning_rate", "train.steps"});
  CHECK(load(kGrid, {"train.learning_rate=1e-3"}).tuned.empty());
}
