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

json value(const std::string& override_text, const char* section, const char* key) {
  return load(kBase, {override_text}).trials.at(0).resolved().at(section).at(key);
}

}  // namespace

TEST_CASE("values are read as TOML, or as a plain word") {
  CHECK(value("train.steps=200", "train", "steps") == 200);
  CHECK(value(" train.learning_rate = 1e-3 ", "train", "learning_rate") == 1e-3);
  CHECK(value("train.shuffle_labels=true", "train", "shuffle_labels") == true);
  CHECK(value("attention.rates=[\"1/2\", 0.25]", "attention", "rates") == json{"1/2", "1/4"});
  CHECK(value("attention.routing=random", "attention", "routing") == "random");
  CHECK(value("attention.routing=\"random\"", "attention", "routing") == "random");
  CHECK(value("train.device=cuda:1", "train", "device") == "cuda:1");
  CHECK(value("task.data=/data/my pictures", "task", "data") == "/data/my pictures");
  CHECK(value("attention.feature_map=elu+1", "attention", "feature_map") == "elu+1");
}

TEST_CASE("an override replaces a base value, and the last one wins") {
  CHECK(load(kBase + "[train]\nsteps = 5\n", {"train.steps=7", "train.steps=8"}).trials[0].resolved().at("train").at("steps") ==
        8);
}

TEST_CASE("an override replaces a part of the grid") {
  const std::string grid = kBase + "[grid]\nseeds = 2\nmodel.layers = [1, 2, 3]\n";
  CHECK(labels(load(grid, {"model.layers=3"})) == Names{"seed=1", "seed=2"});
  CHECK(labels(load(grid, {"seeds=[4]"})) == Names{"model.layers=1", "model.layers=2", "model.layers=3"});
  CHECK(load(grid, {"seeds=1", "model.layers=3"}).trials.size() == 1);
  CHECK(load(kBase, {"seeds=4"}).trials.size() == 4);

  const std::string zip = kBase + "[[grid.zip]]\nmodel.layers = [1, 2]\nmodel.hidden = [32, 64]\n";
  CHECK(labels(load(zip, {"model.layers=2"})) == Names{"model.hidden=32", "model.hidden=64"});
  CHECK(load(zip, {"model.layers=2", "model.hidden=8"}).trials.size() == 1);

  // Rows that become equal are merged into one trial, without an error.
  const std::string rows =
      kBase + "[grid]\nrows = [{attention.rates = [0.5]}, {attention.rates = [0.25]}, {train.batch = 3}]\n";
  CHECK(labels(load(rows, {"attention.rates=[\"1/8\"]"})) == Names{"train.batch=32", "train.batch=3"});
}

TEST_CASE("an override that removes a plugin from the study does not make the plugin's keys unknown") {
  const std::string text =
      "[task]\nplugin = \"image\"\n[attention]\nrates = [0.5]\n[attention.compression]\nplugin = \"rbf\"\n[grid]\n"
      "attention.plugin = [\"softmax\", \"adamra\"]\n[[grid.exclude]]\nattention.plugin = \"adamra\"\nseed = 1\n";
  const auto study = load(text, {"attention.plugin=softmax"});
  REQUIRE(study.trials.size() == 1);
  CHECK(study.trials[0].resolved().at("attention") == json{{"plugin", "softmax"}, {"heads", 2}});
}

TEST_CASE("an override can change the experiment section") {
  const auto study = load("[experiment]\nname = \"a\"\n" + kBase, {"experiment.name=b", "experiment.timeout=5"});
  CHECK(study.name == "b");
  CHECK(study.timeout_s == 5);
  CHECK(study.overrides.size() == 2);
}

TEST_CASE("wrong overrides are reported with their text") {
  const auto one = [](const std::string& text) {
    const auto found = errors(kBase, {text});
    REQUIRE(found.size() == 1);
    return found[0];
  };
  CHECK(one("train.stpes=200") == "--set: train.stpes=200: unknown key stpes in [train] (did you mean steps?)");
  CHECK(one("steps=200") == "--set: steps=200: unknown path steps (did you mean train.steps?)");
  CHECK(one("train.steps=0") == "--set: train.steps=0: train.steps = 0: expected an integer in [1, 1000000000]");
  CHECK(one("train.steps") == "--set: train.steps: expected path=value, for example train.steps=200");
  CHECK(one("train.steps=") == "--set: train.steps=: expected path=value, for example train.steps=200");
  CHECK(one("attention=linear") ==
        "--set: attention=linear: attention is a section; set its plugin with attention.plugin, or a plugin for each layer "
        "with attention=[{plugin=\"linear\"}, {plugin=\"softmax\"}]");
  CHECK(one("attention.plugin=adamrra").find("did you mean adamra?") != std::string::npos);
  CHECK(one("seed=3") == "--set: seed=3: seeds are set only by grid.seeds, as in seeds = [1, 2, 3]");
  CHECK(one("seeds=[1, 2, 1]") == "--set: seeds=[1, 2, 1]: seed = 1 gives the same trial twice; leave one of the two out");
  CHECK(one("seeds=x").find("--set: seeds=x: seeds = \"x\": expected a list of integers") == 0);
  CHECK(one("attention.rates=[\"1/2\"").find("the value is neither TOML nor a word") != std::string::npos);
  CHECK(one("train.steps=2\nx=3").find("the value is neither TOML nor a word") != std::string::npos);
  CHECK(one("task.data=\xff").find("the value is neither TOML nor a word") != std::string::npos);
  CHECK(one("grid.seeds=2") ==
        "--set: grid.seeds=2: write a path without the prefix \"grid.\", as in seeds=2 or train.steps=200");
  CHECK(errors(kBase, {"train.steps=0", "model.layers=-1"}).size() == 2);
  CHECK(errors(kBase, {"seed=3", "seeds=2"}).size() == 1);
}

TEST_CASE("a list replaces an axis's values; any other value replaces the axis with a base value") {
  const std::string text =
      "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"rbf\"\nplugin = \"adamra\"\n[grid]\ntrain.batch = [8, "
      "16, 32]\nattention.rates = [[\"1/2\"], [\"1/4\"]]\n";
  CHECK(studies::load(text).trials.size() == 6);
  CHECK(studies::load(text, {"train.batch=[4, 8]"}).trials.size() == 4);
  CHECK(studies::load(text, {"train.batch=[4, 8]"}).trials[0].resolved()["train"]["batch"] == 4);
  CHECK(studies::load(text, {"train.batch=4"}).trials.size() == 2);
  CHECK(studies::load(text, {"attention.rates=[\"1/8\", \"1/16\"]"}).trials.size() == 3);  // one value: a list of rates
  CHECK(studies::load(text, {"attention.rates=[[\"1/8\"], [\"1/16\"], [\"1/2\"]]"}).trials.size() == 9);
}
