// Parameters that are plugins: sections in sections, lists of sections, an attention for each layer, files.
#include "core/host/scheduler/identity.h"
#include "core/host/study/used_plugins.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using nlohmann::json;
using studies::labels;
using studies::load;
using Names = std::vector<std::string>;

namespace {

const std::string kTask = "[task]\nplugin = \"image\"\n";
const std::string kMixed = kTask + R"([attention]
plugin = "mixed"
[[attention.parts]]
plugin = "compressed"
heads = 4
compression.plugin = "rbf"
[[attention.parts]]
plugin = "linear"
)";

json attention(const std::string& text, const Names& overrides = {}) {
  return load(text, overrides).trials.at(0).resolved().at("attention");
}

json part(const char* plugin, const json& values) {
  auto all = values;
  all["plugin"] = plugin;
  return all;
}

}  // namespace

TEST_CASE("plugins nest to any depth, with every default filled in") {
  const auto resolved = attention(kMixed);
  CHECK(resolved == json{{"plugin", "mixed"},
                         {"parts",
                          {{{"plugin", "compressed"},
                            {"heads", 4},
                            {"rate", "1/4"},
                            {"read", "softmax"},
                            {"compression", {{"plugin", "rbf"}, {"width", 1.0}, {"ridge", 0.001}}}},
                           {{"plugin", "linear"}, {"heads", 2}, {"feature_map", "elu+1"}}}}});
  const auto trial = load(kMixed).trials.at(0);
  CHECK(trial.where.find("attention.parts.0.compression.plugin")->line == 8);
  const auto catalog = studies::catalog();
  Names used;
  for (const auto& use : ablate::used_plugins(trial.spec, catalog)) used.push_back(use.path + "=" + use.info->id);
  CHECK(used == Names{"task=image", "attention=mixed", "attention.parts.0=compressed", "attention.parts.0.compression=rbf",
                      "attention.parts.1=linear"});
  const auto flat = ablate::flatten(trial.resolved());
  CHECK(flat.at("attention.parts.0") == "compressed");
  CHECK(flat.at("attention.parts.0.compression") == "rbf");
  CHECK(flat.at("attention.parts.1.heads") == 2);
  CHECK(!flat.contains("attention.parts"));
  // A mixture can be a part of another mixture.
  const auto inner = attention(kTask +
                               "[attention]\nplugin = \"mixed\"\nparts = [{plugin = \"mixed\", parts = [{plugin = "
                               "\"softmax\"}]}, {plugin = \"softmax\", heads = 8}]\n");
  CHECK(inner["parts"][0]["parts"] == json{{{"plugin", "softmax"}, {"heads", 2}}});
}

TEST_CASE("paths into a list can be used in axes, rows, overrides, rules and published lines") {
  const auto study = load(kMixed + R"([grid]
attention.parts.0.heads = [2, 4]
attention.parts.0.compression.width = [0.5, 1]
[[grid.exclude]]
attention.parts.0.heads = 4
attention.parts.0.compression.width = 1
[[published]]
source = "A paper"
values = [{ attention.parts.0.compression.width = 1, "test/accuracy" = 5 }]
)");
  CHECK(labels(study) == Names{"attention.parts.0.compression.width=0.5 attention.parts.0.heads=2",
                               "attention.parts.0.compression.width=1.0 attention.parts.0.heads=2",
                               "attention.parts.0.compression.width=0.5 attention.parts.0.heads=4"});
  REQUIRE(study.published.size() == 1);
  CHECK(study.published[0].trial == 1);
  CHECK(attention(kMixed, {"attention.parts.1.heads=8"})["parts"][1]["heads"] == 8);
  CHECK(attention(kMixed, {"attention.parts.1.plugin=softmax"})["parts"][1] == part("softmax", {{"heads", 2}}));
  CHECK(attention(kMixed, {"attention.parts=[{plugin=\"softmax\", heads=8}]"})["parts"] ==
        json{part("softmax", {{"heads", 8}})});
}

TEST_CASE("a whole list is one value of an axis and replaces the base's list") {
  const std::string axis = kMixed + R"([grid]
attention.parts = [
  [{ plugin = "softmax" }],
  [{ plugin = "softmax" }, { plugin = "linear", heads = 4 }],
]
)";
  const auto study = load(axis);
  REQUIRE(study.trials.size() == 2);
  CHECK(study.trials[0].resolved()["attention"]["parts"] == json{part("softmax", {{"heads", 2}})});
  CHECK(study.trials[1].resolved()["attention"]["parts"][1]["heads"] == 4);
  CHECK(study.trials[0].label != study.trials[1].label);
  CHECK(study.trials[1].label.find("attention.parts.1=linear") != std::string::npos);
  // Overrides set one value in each list, replace the lists, or set one list for all trials.
  const auto each = load(axis, {"attention.parts.0.heads=8"});
  for (const auto& trial : each.trials) CHECK(trial.resolved()["attention"]["parts"][0]["heads"] == 8);
  CHECK(load(axis, {"attention.parts=[[{plugin=\"linear\"}], [{plugin=\"softmax\"}], [{plugin=\"mixed\", "
                    "parts=[{plugin=\"linear\"}]}]]"})
            .trials.size() == 3);
  CHECK(load(axis, {"attention.parts=[{plugin=\"linear\"}]"}).trials.size() == 1);
}

TEST_CASE("a section can be one value of an axis") {
  const auto study = load(kTask +
                          "[attention]\nplugin = \"compressed\"\n[grid]\nattention.compression = [{plugin = \"segment-mean\"}, "
                          "{plugin = \"rbf\", width = 2}]\n");
  REQUIRE(study.trials.size() == 2);
  CHECK(study.trials[1].resolved()["attention"]["compression"]["width"] == 2.0);
  CHECK(study.trials[1].label == "attention.compression=rbf");
}

TEST_CASE("base values of a plugin that a trial does not have are left out of that trial") {
  const auto study = load(kTask +
                          "[attention]\nplugin = \"compressed\"\ncompression.plugin = \"rbf\"\ncompression.width = 2\n"
                          "[grid]\nrows = [{}, {attention.plugin = \"linear\"}, {attention.compression.plugin = "
                          "\"segment-mean\"}]\n");
  REQUIRE(study.trials.size() == 3);
  CHECK(!study.trials[1].resolved()["attention"].contains("compression"));
  CHECK(study.trials[2].resolved()["attention"]["compression"] == json{{"plugin", "segment-mean"}});
}

TEST_CASE("a list gives each layer a different attention") {
  const std::string layers = kTask + "[[attention]]\nplugin = \"linear\"\n[[attention]]\nplugin = \"softmax\"\nheads = 4\n";
  const auto study = load(layers + "[grid]\nattention.0.heads = [2, 4]\nmodel.layers = [2, 4]\n");
  REQUIRE(study.trials.size() == 4);
  CHECK(study.trials[0].resolved()["attention"] ==
        json{part("linear", {{"heads", 2}, {"feature_map", "elu+1"}}), part("softmax", {{"heads", 4}})});
  CHECK(load(layers).trials[0].label == "attention.0=linear attention.1=softmax");
  CHECK(ablate::flatten(study.trials[0].resolved()).at("attention.1") == "softmax");
  // One attention replaces the list, and a list replaces one attention.
  CHECK(attention(layers, {"attention.plugin=softmax"}) == part("softmax", {{"heads", 2}}));
  const auto both = load(kTask +
                         "[attention]\nplugin = \"softmax\"\nheads = 4\n[grid]\nrows = [{}, {attention = [{plugin = "
                         "\"linear\"}, {plugin = \"softmax\"}]}]\n");
  REQUIRE(both.trials.size() == 2);
  CHECK(both.trials[0].resolved()["attention"]["heads"] == 4);
  CHECK(both.trials[1].resolved()["attention"][1] == part("softmax", {{"heads", 2}}));
  CHECK(both.trials[0].label != both.trials[1].label);
  CHECK(load(kTask + "[grid]\nattention = [[{plugin = \"linear\"}, {plugin = \"softmax\"}], [{plugin = \"softmax\"}, {plugin = "
                     "\"linear\"}]]\n")
            .trials.size() == 2);
}

TEST_CASE("a file is identified by its content, not by its path") {
  const studies::Folder folder;
  const auto one = folder.write("weights", "one").string(), two = folder.write("weights", "two").string();
  const auto other = folder.write("others", "other").string();
  const auto study = [&](const std::string& file) {
    return load(kTask + "[attention]\nplugin = \"tabled\"\ntable = \"" + file + "\"\n").trials.at(0);
  };
  const auto key = [&](const std::string& file) {
    const auto trial = study(file);
    return ablate::identity_of(trial.spec, trial.files, studies::catalog(), "", "").key();
  };
  CHECK(study(one).resolved()["attention"]["table"] == one);
  CHECK(study(one).files.at("attention.table").size() == 64);
  CHECK(key(one) == key(two));
  CHECK(key(one) != key(other));
  CHECK(key("") != key(one));
  CHECK(study("").files.empty());
  const auto same = studies::errors(kTask + "[attention]\nplugin = \"tabled\"\n[grid]\nattention.table = [\n\"" + one +
                                    "\",\n\"" + two + "\"]\n");
  CHECK(same == Names{"8:1: this gives the same trial as FILE:7:1; leave one of the two out"});
}
