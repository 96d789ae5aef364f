// Mixtures in one layer, and another attention for each layer: from a study's paths to its table.
#include "tests/end-to-end/ablate.h"
#include "tests/support/catch.h"

using nlohmann::json;

namespace {

const std::string kRecall = R"(
[experiment]
name = "mixtures"
[task]
plugin = "recall"
length = 16
vocabulary = 24
pairs = "2,4"
train = 200
dev = 40
test = 40
[model]
layers = 2
d_model = 16
hidden = 0
tied_output = true
[train]
steps = 4
batch = 10
)";

std::string message(Workplace& place, const std::string& study) {
  const auto ended = place.run({"run", place.study(kRecall + study).string()});
  CHECK(ended.exit_code != 0);
  return ended.err;
}

}  // namespace

TEST_CASE("parts of a mixture and entries of a layer list are axes, and stand in tables", "[mixtures]") {
  Workplace place;
  const auto study = place.study(kRecall + R"(
[grid]
[[grid.rows]]
attention = [{ plugin = "linear" }, { plugin = "softmax", heads = 1 }]
[[grid.rows]]
attention = [{ plugin = "linear" }, { plugin = "softmax", heads = 4 }]
[[grid.rows]]
attention = { plugin = "softmax", heads = 2 }
)");
  const auto ended = place.run({"run", study.string()});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  const auto mixed = kRecall + R"(
[attention]
plugin = "mixed"
shares = ["1/4", "3/4"]
[[attention.parts]]
plugin = "softmax"
[[attention.parts]]
plugin = "linear"
heads = 1
[grid]
attention.parts.0.heads = [1, 2]
)";
  const auto of_parts = place.run({"run", place.study(mixed).string(), "--set", "experiment.name=parts"});
  INFO(of_parts.err);
  REQUIRE(of_parts.exit_code == 0);
  CHECK(says(of_parts.err, "attention.parts.0.heads=2"));
  const auto layers = place.run({"run", place
                                            .study(kRecall + R"(
[[attention]]
plugin = "linear"
[[attention]]
plugin = "softmax"
[grid]
attention.1.heads = [1, 4]
)")
                                            .string()});
  INFO(layers.err);
  REQUIRE(layers.exit_code == 0);
  CHECK(says(layers.err, "2 done before"));  // the same trials, written in another way

  const auto table = place.run({"table", "parts", "--rows", "attention,attention.parts.0,attention.parts.0.heads", "--metric",
                                "test/accuracy,test/accuracy@pairs=4", "--format", "csv"});
  INFO(table.out << table.err);
  REQUIRE(table.exit_code == 0);
  CHECK(says(table.out, "mixed,softmax,1"));
  CHECK(says(table.out, "mixed,softmax,2"));
  CHECK(says(table.out, "test/accuracy@pairs=4"));
  const auto of_layers = place.run({"table", "mixtures", "--rows", "attention.0,attention.1,attention.1.heads", "--metric",
                                    "test/accuracy@pairs=2", "--format", "csv"});
  INFO(of_layers.out << of_layers.err);
  REQUIRE(of_layers.exit_code == 0);
  CHECK(says(of_layers.out, "linear,softmax,1"));
  CHECK(says(of_layers.out, "linear,softmax,4"));
}

TEST_CASE("what does not fit in a mixture is told before anything runs, or by the trial", "[mixtures]") {
  Workplace place;
  const std::string three =
      "[[attention]]\nplugin = \"linear\"\n[[attention]]\nplugin = \"softmax\"\n[[attention]]\nplugin = \"linear\"\n";
  CHECK(says(message(place, three), "attention is a list of 3, which does not divide model.layers = 2"));
  CHECK(says(message(place, "[attention]\nplugin = \"mixed\"\n"), "parts"));
  CHECK(says(message(place,
                     "[attention]\nplugin = \"mixed\"\nshares = [\"1/2\", \"1/4\"]\nparts = [{ plugin = \"linear\" }, { plugin "
                     "= \"softmax\" }]\n"),
             "the shares add up to 3/4, expected 1"));
}

TEST_CASE("the studies of recall pass all checks that come before a run", "[mixtures]") {
  Workplace place;
  for (const auto& [name, trials] :
       {std::pair{"recall", "recall: 16 trials"}, {"recall-published", "recall-published: 8 trials"}}) {
    const auto ended = place.run({"run", std::string(ABLATE_SOURCE_DIR) + "/experiments/" + name + ".toml", "--dry-run"});
    INFO(ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(says(ended.out, trials));
  }
}
