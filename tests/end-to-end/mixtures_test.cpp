// Mixtures in one layer, and a different attention in each layer: from a study's paths to its table.
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
  place.study(kRecall + study);
  const auto ended = place.run({"run", "study.toml"});
  CHECK(ended.exit_code == 2);
  return ended.err;
}

}  // namespace

TEST_CASE("parts of a mixture and entries of a layer list can be axes of a grid, and appear in tables", "[mixtures]") {
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
  CHECK(says(table.out, "\"mixed(softmax, linear)\",softmax,1"));
  CHECK(says(table.out, "\"mixed(softmax, linear)\",softmax,2"));
  CHECK(says(table.out, "test/accuracy@pairs=4"));
  const auto of_layers = place.run({"table", "mixtures", "--rows", "attention.0,attention.1,attention.1.heads", "--metric",
                                    "test/accuracy@pairs=2", "--format", "csv"});
  INFO(of_layers.out << of_layers.err);
  REQUIRE(of_layers.exit_code == 0);
  CHECK(says(of_layers.out, "linear,softmax,1"));
  CHECK(says(of_layers.out, "linear,softmax,4"));
}

TEST_CASE("an attention refuses a width that its heads do not divide, and names the line in the study") {
  Workplace place;
  const std::string softmax = "[attention]\nplugin = \"softmax\"\n";
  CHECK(message(place, softmax + "heads = 3\n") == "study.toml:22:9: attention.heads = 3 does not divide d_model = 16\n");
  CHECK(message(place, softmax + "[grid]\nmodel.d_model = [16, 17]\n") ==
        "study.toml:23:22: attention.heads = 2 does not divide d_model = 17\n");
  CHECK(message(place, softmax + "[grid]\nmodel.attention_width = [17]\n") ==
        "study.toml:23:26: attention.heads = 2 does not divide the part's width = 17\n");
  CHECK(message(place, "[grid]\nattention = [[{ plugin = \"linear\" }, { plugin = \"softmax\", heads = 3 }]]\n") ==
        "study.toml:21:68: attention.1.heads = 3 does not divide d_model = 16\n");
  CHECK_FALSE(place.has_database());
  // Gated DeltaNet's published keys are narrower than the model, so the heads need not divide the model's width.
  place.study(kRecall + "[attention]\nplugin = \"delta\"\nheads = 6\nkey_width = 0.75\nvalue_width = 1.5\n");
  const auto published = place.run({"run", "study.toml", "--dry-run", "--set", "model.d_model=2048"});
  INFO(published.err);
  CHECK(published.exit_code == 0);
}

TEST_CASE("wrong values in a mixture or in the model are reported at their place before anything runs", "[mixtures]") {
  Workplace place;
  const std::string three =
      "[[attention]]\nplugin = \"linear\"\n[[attention]]\nplugin = \"softmax\"\n[[attention]]\nplugin = \"linear\"\n";
  CHECK(says(message(place, three), "attention is a list of 3 entries, and this number does not divide model.layers = 2"));
  CHECK(says(message(place, "[attention]\nplugin = \"mixed\"\n"), "parts"));
  CHECK(says(message(place,
                     "[attention]\nplugin = \"mixed\"\nshares = [\"1/2\", \"1/4\"]\nparts = [{ plugin = \"linear\" }, { plugin "
                     "= \"softmax\" }]\n"),
             "study.toml:22:10: attention.shares = numbers that add up to 3/4, expected 1"));
  const std::string halves =
      "[attention]\nplugin = \"mixed\"\n[[attention.parts]]\nplugin = \"linear\"\nheads = 3\n[[attention.parts]]\nplugin = "
      "\"softmax\"\n";
  const auto of_part = "study.toml:24:9: attention.parts.0.heads = 3 does not divide the part's width = 8\n";
  CHECK(message(place, halves) == of_part);
  const auto dry = place.run({"run", "study.toml", "--dry-run"});
  CHECK(dry.exit_code == 2);
  CHECK(dry.err == of_part);
  // All errors of a grid are reported at once, each wrong value with its place. Valid values are not reported.
  CHECK(message(place, halves + "[grid]\nattention.parts.0.heads = [1, 2,\n5, 6]\nmodel.d_model = [16, 24]\n") ==
        "study.toml:29:1: attention.parts.0.heads = 5 does not divide the part's width = 12\n"
        "study.toml:29:1: attention.parts.0.heads = 5 does not divide the part's width = 8\n"
        "study.toml:29:4: attention.parts.0.heads = 6 does not divide the part's width = 8\n");
  // The wrong value is in a part of a part, in one of two layers.
  CHECK(message(place,
                "[[attention]]\nplugin = \"linear\"\n[[attention]]\nplugin = \"mixed\"\nparts = [{ plugin = \"softmax\" }, { "
                "plugin = \"mixed\", parts = [\n{ plugin = \"linear\" }, { plugin = \"local\", heads = 8 }] }]\n") ==
        "study.toml:25:52: attention.1.parts.1.parts.1.heads = 8 does not divide the part's width = 4\n");
  CHECK_FALSE(place.has_database());
}

TEST_CASE("the studies of synthetic tasks pass all checks before a run", "[mixtures]") {
  Workplace place;
  for (const auto& [name, trials] : {std::pair{"recall", "recall: 16 trials"},
                                     {"recall-published", "recall-published: 18 trials"},
                                     {"recall-shortened", "recall-shortened: 18 trials"},
                                     {"every-attention-mad", "every-attention-mad: 136 trials"},
                                     {"mad", "mad: 12 trials"},
                                     {"mad-published", "mad-published: 180 trials"},
                                     {"sort", "sort: 12 trials"}}) {
    const auto ended = place.run({"run", std::string(ABLATE_SOURCE_DIR) + "/experiments/" + name + ".toml", "--dry-run"});
    INFO(ended.err);
    CHECK(ended.exit_code == 0);
    CHECK(says(ended.out, trials));
  }
}

TEST_CASE("the preset memory-compressed has five layers that alternate between local and compressed", "[mixtures]") {
  Workplace place;
  auto study = kRecall;
  const std::string layers = "layers = 2\n";
  study.erase(study.find(layers), layers.size());
  study.insert(study.find("[task]"), "preset = \"memory-compressed\"\n");
  const auto ended = place.run({"run", place.study(study).string()});
  INFO(ended.err);
  REQUIRE(ended.exit_code == 0);
  const auto rows = place.query(R"(SELECT "attention.0" AS a, "attention.1" AS b, "attention.1.compression" AS c,
                                   "attention.3.rate" AS rate, "attention.4.memory" AS memory FROM trials)");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0] == json{{"a", "image-local"}, {"b", "compressed"}, {"c", "convolution"}, {"rate", "1/3"}, {"memory", 0}});
}
