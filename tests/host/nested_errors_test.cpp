// Each error in a section of a plugin's parameter is reported at its place.
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::errors;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 2 of a study. Text that a test appends starts at line 3.
const std::string kTask = "[task]\nplugin = \"image\"\n";
// Lines 1 to 8 of a study.
const std::string kMixed = kTask +
                           "[attention]\nplugin = \"mixed\"\n[[attention.parts]]\nplugin = \"softmax\"\n[[attention.parts]]\n"
                           "plugin = \"linear\"\n";
const std::string kLayers = kTask + "[[attention]]\nplugin = \"linear\"\n[[attention]]\nplugin = \"softmax\"\n";

}  // namespace

TEST_CASE("mistakes in sections of plugins are each reported at their place") {
  struct Case {
    std::string text;
    std::string expected;  // beginning of the only message
  };
  const std::vector<Case> cases = {
      // the old form
      {kTask + "[attention]\nplugin = \"adamra\"\n[compression]\nplugin = \"rbf\"\n",
       "5:2: a compression belongs to the attention that reads it: write [attention.compression] in place of [compression]"},
      // one plugin
      {kTask + "[attention]\nplugin = \"compressed\"\ncompression = \"rbf\"\n",
       "5:1: attention.compression is a section; its plugin is attention.compression.plugin"},
      {kTask + "[attention]\nplugin = \"compressed\"\n[attention.compression]\nplugin = \"rbff\"\n",
       "6:10: unknown compression plugin \"rbff\" (did you mean rbf? known: segment-mean, rbf)"},
      {kTask + "[attention]\nplugin = \"compressed\"\n[attention.compression]\nplugin = \"softmax\"\n",
       "6:10: softmax is a plugin of the kind attention, and [attention.compression] takes the kind compression (known: "
       "segment-mean, rbf)"},
      {kTask + "[attention]\nplugin = \"compressed\"\n[attention.compression]\nplugin = \"rbf\"\nwidht = 1\n",
       "7:1: unknown key widht in [attention.compression] (did you mean width?)"},
      {kTask + "[attention]\nplugin = \"compressed\"\n[attention.compression]\nplugin = \"rbf\"\nwidth = 9\n",
       "7:9: attention.compression.width = 9: expected a number in [0.25, 2]"},
      {kTask + "[attention]\nplugin = \"softmax\"\nheads.few = 2\n",
       "5:1: attention.heads takes a value, and attention.heads.few is no path"},
      {kTask + "[attention]\nplugin = \"softmax\"\n[attention.compression]\nplugin = \"rbf\"\nwidth = 1\n",
       "5:1: unknown key compression in [attention] (plugins with this parameter, which the study does not use: compressed, "
       "adamra)"},
      // lists
      {kTask + "[attention]\nplugin = \"mixed\"\n",
       "4:10: mixed needs a list of 1 to 16 attention plugins; write [[attention.parts]] and in each plugin = \"...\" (known: "
       "softmax, linear, compressed, adamra, mixed, tabled)"},
      {kTask + "[attention]\nplugin = \"mixed\"\nparts = [{plugin = \"softmax\"}, {plugin = \"linear\"}]\n[[grid.exclude]]\n"
               "attention.parts.7.heads = 2\n",
       "7:19: there is no attention.parts.7: attention.parts has 2 entries, the last is attention.parts.1"},
      {kTask + "[attention]\nplugin = \"mixed\"\nparts = []\n",
       "5:9: attention.parts = []: expected a list of 1 to 16 attention plugins, sections [[attention.parts]]"},
      {kTask + "[attention]\nplugin = \"mixed\"\nparts = \"softmax\"\n",
       "5:9: attention.parts = \"softmax\": expected a list of 1 to 16 attention plugins, sections [[attention.parts]]"},
      {kTask + "[attention]\nplugin = \"mixed\"\nparts = [{plugin = \"softmax\"}, 3]\n",
       "5:32: attention.parts.1 is 3, expected a section with plugin = \"...\""},
      {kTask + "[attention]\nplugin = \"mixed\"\n[[attention.parts]]\n",
       "5:1: attention.parts.0 is empty, expected a section with plugin = \"...\""},
      {kTask + "[attention]\nplugin = \"mixed\"\n[[attention.parts]]\nheads = 2\n",
       "5:1: mixed needs an attention plugin, and attention.parts.0 names none; write [[attention.parts]] and in it plugin = "
       "\"...\" (known: softmax, linear, compressed, adamra, mixed, tabled)"},
      {kTask + "[attention]\nplugin = \"mixed\"\n[attention.parts]\nplugin = \"softmax\"\n",
       "5:1: attention.parts.plugin: attention.parts is a list, its entries are counted from 0, as in "
       "attention.parts.0.plugin; a list as one value of an axis is [[{...}, {...}], ...]"},
      {kMixed + "heads = 65\n", "9:9: attention.parts.1.heads = 65: expected an integer in [1, 64]"},
      {kMixed + "haeds = 2\n", "9:1: unknown key haeds in [attention.parts.1] (did you mean heads?)"},
      {kMixed + "[grid]\nattention.parts.2.heads = [2]\n",
       "10:19: mixed needs an attention plugin, and attention.parts.2 names none; write [[attention.parts]] and in it plugin = "
       "\"...\" (known: softmax, linear, compressed, adamra, mixed, tabled)"},
      {kMixed + "[grid]\nattention.parts.3.plugin = [\"softmax\"]\n",
       "10:19: attention.parts.3 is set, and there is no attention.parts.2; entries are counted from 0"},
      {kMixed + "[grid]\nattention.parts.01.heads = [2]\n",
       "10:20: attention.parts.01.heads: attention.parts is a list, its entries are counted from 0, as in "
       "attention.parts.0.plugin; a list as one value of an axis is [[{...}, {...}], ...]"},
      {kMixed + "[grid]\nattention.parts.heads = [2]\n",
       "10:17: attention.parts.heads: attention.parts is a list, its entries are counted from 0, as in "
       "attention.parts.0.plugin; a list as one value of an axis is [[{...}, {...}], ...]"},
      {kMixed + "[grid]\nattention.parts.0.feature_map = [\"relu\"]\n",
       "10:19: unknown key feature_map in [attention.parts.0] (plugins with this parameter, which the study does not use: "
       "linear, adamra)"},
      {kMixed + "[[grid.exclude]]\nattention.parts.0.plugin = \"linear\"\n",
       "10:28: the study uses no attention plugin \"linear\" (known: softmax)"},
      // layers
      {kLayers + "[model]\nlayers = 3\n",
       "4:10: attention is a list of 2 entries, and this number does not divide model.layers = 3; layers take its entries in "
       "turn"},
      {kLayers + "[grid]\nattention.heads = [2, 4]\n",
       "8:11: unknown key heads in [attention]: attention is a list here, its entries are counted from 0 (did you mean "},
      {kTask + "[attention]\nplugin = \"softmax\"\n[grid]\nattention.0.heads = [2, 4]\n",
       "6:13: attention.plugin is for all layers, and attention.0 is the first attention of a list; keep one of the two"},
      {kLayers + "[grid]\nattention.plugin = [\"softmax\"]\nattention.0.heads = [2]\n",
       "9:13: attention.plugin is for all layers, and attention.0 is the first attention of a list; keep one of the two"},
      {kLayers + "[[attention]]\nheads = 2\n",
       "7:1: each entry of [[attention]] needs an attention plugin, and attention.2 names none; write [[attention]] and in "
       "it "},
      {kLayers + "[[attention]]\n", "7:1: attention.2 is empty, expected a section with plugin = \"...\""},
      {kLayers + "[[attention]]\nplugin = \"image\"\n",
       "8:10: image is a plugin of the kind task, and [attention.2] takes the kind attention (known: "},
      {kLayers + "[[attention]]\nplugin = 3\n", "8:10: attention.2.plugin = 3: expected the name of a plugin, a text"},
      // files
      {kTask + "[attention]\nplugin = \"tabled\"\ntable = \"/nonexistent/weights\"\n",
       "5:9: attention.table = \"/nonexistent/weights\": there is no such file; tabled needs the path of a file, from the "
       "folder "},
      {kTask + "[attention]\nplugin = \"tabled\"\ntable = \"/tmp\"\n",
       "5:9: attention.table = \"/tmp\": it is no regular file; tabled needs the path of a file, from the folder "},
      {kTask + "[attention]\nplugin = \"tabled\"\ntable = 3\n",
       "5:9: attention.table = 3: expected the path of a file, in one line"},
  };
  for (const auto& one : cases) {
    INFO(one.text);
    const auto found = errors(one.text);
    REQUIRE(found.size() == 1);
    CHECK(found[0].substr(0, one.expected.size()) == one.expected);
  }
  const auto set = errors(kLayers, {"attention.2.heads=4"});
  REQUIRE(set.size() == 1);
  CHECK(set[0].find("attention.2 names none; write [[attention]]") != std::string::npos);
}

TEST_CASE("a list in the form of an axis is reported at each value, and a list that is too long is reported once") {
  const auto found = errors(kMixed + "[grid]\nattention.parts = [{plugin = \"softmax\"}, {plugin = \"linear\"}]\n");
  REQUIRE(found.size() == 2);
  for (const auto& one : found) CHECK(one.find("a list as one value of an axis is [[{...}, {...}], ...]") != std::string::npos);
  std::string many = kTask + "[attention]\nplugin = \"mixed\"\n";
  for (int i = 0; i < 17; ++i) many += "[[attention.parts]]\nplugin = \"softmax\"\n";
  CHECK(errors(many) == Names{"5:1: attention.parts has 17 entries, expected a list of 1 to 16 attention plugins"});
}

TEST_CASE("malicious nesting ends with a message") {
  // A chain of 21 nested mixtures. Only the innermost section has an error.
  std::string deep = kTask + "[attention]\nplugin = \"mixed\"\nparts = ";
  for (int i = 0; i < 20; ++i) deep += "[{plugin = \"mixed\", parts = ";
  deep += "[{plugin = \"softmax\", haeds = 2}]";
  for (int i = 0; i < 20; ++i) deep += "}]";
  const auto found = errors(deep + "\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("unknown key haeds in [attention.parts.0.parts.0.") != std::string::npos);
  for (const std::string path :
       {"attention.parts.99999999999999999999.heads", "attention.parts.-1.heads", "attention.parts.9999.heads",
        "attention..heads", "attention.parts.0.", ".attention", "attention.parts.0.plugin.plugin"})
    CHECK(!errors(kMixed, {path + "=2"}).empty());
}

TEST_CASE("{} in place of a value is refused like any other wrong value, and never ignored") {
  const std::string steps = "train.steps = {}: expected an integer in [1, 1000000000]";
  const std::string base = kTask + "[attention]\nplugin = \"softmax\"\n";  // lines 1 to 4
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"heads = {}\n", "5:9: attention.heads = {}: expected an integer in [1, 64]"},
      {"compression = {}\n", "5:1: unknown key compression in [attention]"},
      {"[train]\nsteps = {}\n", "6:9: " + steps},
      {"[grid]\ntrain.steps = {}\n", "6:15: train.steps = {}: expected a list of values"},
      {"[grid]\ntrain.steps = [{}, 20]\n", "6:16: " + steps},
      {"[grid]\nrows = [{train.steps = {}}, {train.steps = 20}]\n", "6:24: " + steps},
      {"[[grid.zip]]\ntrain.steps = {}\n", "6:15: train.steps = {}: expected a list of values"},
      {"[grid]\nexclude = [{attention.plugin = \"softmax\", train.steps = {}}]\n", "6:57: " + steps},
      {"[grid.tune]\ntrain.steps = {}\n", "6:15: train.steps = {}: expected a list of values"},
      {"[grid]\nseeds = {}\n", "6:9: seeds = {}: expected a list of integers"},
      {"[grid]\nseeds = {a = 1}\n", "6:9: seeds = {\"a\":1}: expected a list of integers"},
      {"[experiment]\nname = {}\n", "6:8: experiment.name = {}: expected"},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    const auto found = errors(base + text);
    REQUIRE(found.size() == 1);
    INFO(found[0]);
    CHECK(found[0].starts_with(expected));
  }
  for (const std::string set : {"train.steps={}", "model={}", "experiment={}", "attention={}", "task={}", "task.dev={}"}) {
    const auto found = errors(base, {set});
    INFO(set);
    REQUIRE(found.size() == 1);
    CHECK(found[0].starts_with("--set: " + set + ": "));
  }
  CHECK(errors("model = {}\n" + base + "[train]\n[grid]\nrows = [{}, {train.steps = 20}]\n[grid.model]\n").empty());
}
