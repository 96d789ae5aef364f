// Expansion of a grid: order, counts, defaults, conditional keys, labels.
#include <set>

#include "core/shared/sections.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using nlohmann::json;
using studies::errors;
using studies::labels;
using studies::load;
using Names = std::vector<std::string>;

namespace {

const std::string kBase =
    "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"segment-mean\"\nplugin = \"adamra\"\n";

std::size_t count(const std::string& text) { return load(text).trials.size(); }

}  // namespace

TEST_CASE("a study without a grid is one trial with every default filled in") {
  const auto study = load("[task]\nplugin = \"image\"\n[attention]\nplugin = \"softmax\"\n");
  REQUIRE(study.trials.size() == 1);
  CHECK(study.name == "study");
  CHECK(study.timeout_s == 0);
  const auto& trial = study.trials[0];
  CHECK(trial.resolved().at("seed") == 1);
  CHECK(trial.resolved().at("task") ==
        json{{"plugin", "image"}, {"data", "fashion-mnist"}, {"pool", 1}, {"black", "token"}, {"dev", 5000}, {"data_seed", 0}});
  CHECK(trial.resolved().at("attention") == json{{"plugin", "softmax"}, {"heads", 2}});
  CHECK(trial.resolved().at("model").size() == ablate::model_parameters().size());
  CHECK(trial.resolved().at("train").at("learning_rate") == 1e-4);
  CHECK(trial.label == "attention=softmax");
  CHECK(trial.where.size() == 2);
  CHECK(trial.where.find("attention.plugin")->line == 4);
  CHECK(trial.where.find("attention.plugin")->column == 10);
}

TEST_CASE("the experiment section sets the name, description and limits of a study") {
  const auto study = load("[experiment]\nname = \"n\"\ndescription = \"d\"\ntimeout = 90\n" + kBase);
  CHECK(study.name == "n");
  CHECK(study.description == "d");
  CHECK(study.timeout_s == 90);
}

TEST_CASE("a whole number in place of a real number makes the same trial") {
  const auto one = load(kBase + "[train]\nlearning_rate = 1\n"), other = load(kBase + "[train]\nlearning_rate = 1.0\n");
  CHECK(one.trials[0].resolved().dump() == other.trials[0].resolved().dump());
  CHECK(one.trials[0].resolved().at("train").at("learning_rate").is_number_float());
}

TEST_CASE("a grid expands rows, then zips, then axes in the order of the file; seeds change fastest") {
  const auto study = load(kBase + R"(
[grid]
seeds = [7, 3]
train.steps = [20, 10]
model.layers = [1, 2]
rows = [ {attention.routing = "all"}, {attention.routing = "random"} ]
[[grid.zip]]
train.batch = [8, 4]
model.hidden = [64, 32]
)");
  REQUIRE(study.trials.size() == 32);
  std::vector<std::string> seen;
  for (const auto& trial : study.trials) {
    const auto& r = trial.resolved();
    seen.push_back(r["attention"]["routing"].get<std::string>() + " " + r["train"]["batch"].dump() + " " +
                   r["model"]["hidden"].dump() + " " + r["train"]["steps"].dump() + " " + r["model"]["layers"].dump() + " " +
                   r["seed"].dump());
  }
  CHECK(seen[0] == "all 8 64 20 1 7");
  CHECK(seen[1] == "all 8 64 20 1 3");
  CHECK(seen[2] == "all 8 64 20 2 7");
  CHECK(seen[4] == "all 8 64 10 1 7");
  CHECK(seen[8] == "all 4 32 20 1 7");
  CHECK(seen[16] == "random 8 64 20 1 7");
  CHECK(seen[31] == "random 4 32 10 2 3");
  CHECK(std::set<std::string>(seen.begin(), seen.end()).size() == 32);
  CHECK(study.trials[31].label ==
        "attention.routing=random model.hidden=32 model.layers=2 train.batch=4 train.steps=10 seed=3");
}

TEST_CASE("nested tables and dotted keys mean the same, and so do both ways to write rows") {
  const auto dotted =
      load(kBase + "[grid]\nattention.routing = [\"all\", \"random\"]\nrows = [{model.layers = 1}, {model.layers = 3}]\n");
  const auto nested = load(kBase +
                           "[[grid.rows]]\nmodel.layers = 1\n[[grid.rows]]\nmodel = {layers = 3}\n[grid.attention]\nrouting = "
                           "[\"all\", \"random\"]\n");
  CHECK(labels(dotted) == labels(nested));
  CHECK(labels(dotted).size() == 4);
}

TEST_CASE("seeds are a count or a list") {
  CHECK(labels(load(kBase + "[grid]\nseeds = 3\n")) == Names{"seed=1", "seed=2", "seed=3"});
  CHECK(labels(load(kBase + "[grid]\nseeds = [0, 11]\n")) == Names{"seed=0", "seed=11"});
}

TEST_CASE("exclude rules leave trials out of the grid") {
  const std::string grid = kBase + "[grid]\nseeds = 3\nmodel.layers = [1, 2, 3]\nattention.routing = [\"all\", \"random\"]\n";
  CHECK(count(grid) == 18);
  CHECK(count(grid + "[[grid.exclude]]\nmodel.layers = 1\n") == 12);
  CHECK(count(grid + "[[grid.exclude]]\nmodel.layers = [1, 2]\nattention.routing = \"all\"\n") == 12);
  CHECK(count(grid + "[[grid.exclude]]\nmodel.layers = 3\nattention.routing = \"all\"\nseed = [2, 3]\n") == 16);
  // Overlapping rules leave a trial out once.
  CHECK(count(grid + "[[grid.exclude]]\nmodel.layers = 1\n[[grid.exclude]]\nseed = 1\n") == 8);
  // Defaults and base values can be matched as well.
  CHECK(count(grid + "[[grid.exclude]]\nattention.subheads = 2\nmodel.layers = 2\n") == 12);
}

TEST_CASE("in a rule, a list of rates is one value, and a list of such lists is several values") {
  const std::string grid = kBase + "[grid]\nattention.rates = [[\"1/2\"], [\"1/4\"], [\"1/2\", \"1/4\"]]\n";
  CHECK(labels(load(grid + "[[grid.exclude]]\nattention.rates = [0.5, 0.25]\n")) ==
        Names{"attention.rates=1/2", "attention.rates=1/4"});
  CHECK(labels(load(grid + "[[grid.exclude]]\nattention.rates = [[0.5], [0.25]]\n")) == Names{"attention=adamra"});
}

TEST_CASE("the number of trials is the product of the axes without the excluded trials") {
  for (int rows = 1; rows <= 3; ++rows)
    for (int zip = 1; zip <= 3; ++zip)
      for (int axis = 1; axis <= 3; ++axis)
        for (int seeds = 1; seeds <= 3; ++seeds) {
          std::string text = kBase + "[grid]\nseeds = " + std::to_string(seeds) + "\nmodel.layers = [";
          for (int i = 1; i <= axis; ++i) text += std::to_string(i) + ",";
          text += "]\nrows = [";
          for (int i = 1; i <= rows; ++i) text += "{train.batch = " + std::to_string(i) + "},";
          std::string steps, hidden;
          for (int i = 1; i <= zip; ++i) steps += std::to_string(i) + ",", hidden += std::to_string(10 * i) + ",";
          text += "]\n[[grid.zip]]\ntrain.steps = [" + steps + "]\nmodel.hidden = [" + hidden + "]\n";
          CHECK(count(text) == static_cast<std::size_t>(rows * zip * axis * seeds));
          const int left = rows * zip * axis * seeds - rows * axis;
          if (left > 0) CHECK(count(text + "[[grid.exclude]]\nseed = 1\ntrain.steps = 1\n") == static_cast<std::size_t>(left));
        }
}

TEST_CASE("a base key that a trial's plugin does not have is left out of that trial") {
  const auto study = load(
      "[task]\nplugin = \"image\"\n[attention]\nheads = 4\nrates = [0.5]\n[attention.compression]\nplugin = \"rbf\"\nwidth = "
      "2\n"
      "[grid]\nattention.plugin = [\"softmax\", \"adamra\"]\n");
  REQUIRE(study.trials.size() == 2);
  CHECK(study.trials[0].resolved().at("attention") == json{{"plugin", "softmax"}, {"heads", 4}});
  CHECK(!study.trials[0].where.find("attention.rates"));
  CHECK(!study.trials[0].where.find("attention.compression.width"));
  CHECK(study.trials[1].resolved().at("attention").at("rates") == json{"1/2"});
  CHECK(!study.trials[1].resolved().at("attention").contains("heads"));
  CHECK(study.trials[1].resolved().at("attention").at("compression") ==
        json{{"plugin", "rbf"}, {"width", 2.0}, {"ridge", 0.001}});
  CHECK(labels(study) == Names{"attention=softmax", "attention=adamra"});
}

TEST_CASE("an impossible combination may be excluded") {
  const std::string grid =
      "[task]\nplugin = \"image\"\n[attention.compression]\nplugin = \"rbf\"\n[grid]\nattention.plugin = [\"softmax\", "
      "\"adamra\"]\nattention.rates = [[\"1/2\"], "
      "[\"1/4\"]]\n";
  CHECK(errors(grid).size() == 1);
  CHECK(labels(load(grid + "[[grid.exclude]]\nattention.plugin = \"softmax\"\nattention.rates = [\"1/4\"]\n"
                           "[[grid.exclude]]\nattention.plugin = \"softmax\"\nattention.rates = [\"1/2\"]\n")) ==
        Names{"attention.rates=1/2", "attention.rates=1/4"});
}

TEST_CASE("trials share equal sections, and no other sections") {
  const auto study = studies::load(
      "[task]\nplugin = \"image\"\n[attention]\nheads = 8\n[grid]\nseeds = 2\ntrain.steps = [10, 20]\nattention.plugin = "
      "[\"softmax\", \"linear\"]\n");
  REQUIRE(study.trials.size() == 8);
  using ablate::TrialSection;
  for (const auto& one : study.trials)
    for (const auto& other : study.trials) {
      const auto same = [&](TrialSection section) { return one.sections[section] == other.sections[section]; };
      CHECK(same(TrialSection::kTask));
      CHECK(same(TrialSection::kTrain) == (one.spec.train.steps == other.spec.train.steps));
      CHECK(same(TrialSection::kAttention) == (one.spec.attention == other.spec.attention));
    }
  CHECK(study.trials[0].label == "attention=softmax train.steps=10 seed=1");
  CHECK(study.trials[7].label == "attention=linear train.steps=20 seed=2");
  // An equal section in another place stays separate, so that its errors are reported at that place.
  const auto rows = studies::load(
      "[task]\nplugin = \"image\"\n[attention]\nplugin = \"softmax\"\n[[grid.rows]]\nmodel.layers = 2\ntrain.steps = 10\n"
      "[[grid.rows]]\nmodel.layers = 2\ntrain.steps = 20\n");
  REQUIRE(rows.trials.size() == 2);
  CHECK(rows.trials[0].sections[TrialSection::kModel] != rows.trials[1].sections[TrialSection::kModel]);
  CHECK(rows.trials[0].where.find("model.layers")->line == 6);
  CHECK(rows.trials[1].where.find("model.layers")->line == 9);
}
