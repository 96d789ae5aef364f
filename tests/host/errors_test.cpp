// Each error is reported with its location, the expected value and a hint.
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::errors;
using Names = std::vector<std::string>;

namespace {

// Lines 1 to 5 of a study. Text that a test appends starts at line 6.
const std::string kBase =
    "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"segment-mean\"\nplugin = \"adamra\"\n";

}  // namespace

TEST_CASE("each single error is reported at its place") {
  struct Case {
    std::string text;
    Names expected;
  };
  const std::vector<Case> cases = {
      // keys and sections
      {kBase + "rats = [0.5]\n", {"6:1: unknown key rats in [attention] (did you mean rates?)"}},
      {kBase + "rate = \"1/2\"\n", {"6:1: unknown key rate in [attention] (did you mean rates?)"}},
      {kBase + "heads = 2\n",
       {"6:1: unknown key heads in [attention] (plugins with this parameter, which the study does not use: softmax, linear, "
        "compressed)"}},
      {kBase + "read = \"relu\"\n",
       {"6:1: unknown key read in [attention] (plugins with this parameter, which the study does not use: compressed)"}},
      {kBase + "[model]\nsteps = 3\n", {"7:1: unknown key steps in [model] (did you mean train.steps?)"}},
      {kBase + "[trian]\nsteps = 3\n", {"6:2: unknown section trian (did you mean train?)"}},
      {kBase + "[zzzzzz]\n",
       {"6:2: unknown section zzzzzz (known: experiment, task, model, attention, train, grid, claim, published, table)"}},
      {"seed = 3\n" + kBase, {"1:1: seed is no section; seeds are set in [grid]: seeds = [1, 2, 3]"}},
      {"attention = \"adamra\"\n[task]\nplugin = \"image\"\n",
       {"1:1: attention is a section; write [attention] and in it plugin = \"adamra\""}},
      {kBase + "[train.steps]\nx = 1\n", {"6:8: train.steps is a table, but every key of [train] takes a value"}},
      {"[experiment]\ntimout = 3\n" + kBase, {"2:1: unknown key timout in [experiment] (did you mean timeout?)"}},
      {"[experiment]\ntimeout = 0\n" + kBase, {"2:11: experiment.timeout = 0: expected a number in [0.001, 1000000000]"}},
      {"[experiment]\ncheckpoint = -1\n" + kBase, {"2:14: experiment.checkpoint = -1: expected a number in [0, 1000000000]"}},
      {"[experiment]\nkeep_weights = 1\n" + kBase, {"2:16: experiment.keep_weights = 1: expected true or false"}},
      {"[experiment]\nname = \"\"\n" + kBase, {"2:8: experiment.name is empty"}},
      // values
      {kBase + "[train]\nsteps = \"many\"\n", {"7:9: train.steps = \"many\": expected an integer in [1, 1000000000]"}},
      {kBase + "[train]\nsteps = 0\n", {"7:9: train.steps = 0: expected an integer in [1, 1000000000]"}},
      {kBase + "[train]\nlearning_rate = nan\n", {"7:17: train.learning_rate = nan: expected a number in [0, 10]"}},
      {kBase + "[train]\nlearning_rate = [1e-3, 1e-4]\n",
       {"7:17: train.learning_rate = [0.001,0.0001]: expected a number in [0, 10]; several values to compare belong in "
        "[grid]"}},
      {kBase + "[train]\nlr = 3\n", {"7:1: unknown key lr in [train] (it is called learning_rate here)"}},
      {kBase + "[model]\ndim = 3\n", {"7:1: unknown key dim in [model] (it is called d_model here)"}},
      {kBase + "[train]\nseed = 3\n", {"7:1: seeds are set only by grid.seeds, as in seeds = [1, 2, 3]"}},
      {"[experiment]\ndescription = 3\n" + kBase, {"2:15: experiment.description = 3: expected a text"}},
      {"[task]\nplugin = \"image\"\n[attention]\nplugin = [\"softmax\", \"linear\"]\n",
       {"4:10: attention.plugin = [\"softmax\",\"linear\"]: expected the name of a plugin, a text; several names to "
        "compare belong in [grid]"}},
      {kBase + "routing = \"lerned\"\n", {"6:11: attention.routing = \"lerned\": expected one of learned, random, all"}},
      {kBase + "rates = [\"1/2\", 0]\n",
       {"6:9: attention.rates = [\"1/2\",0]: expected a list of 1 to 64 fractions in (0, 1] with denominators of "
        "at most 1,000,000, such as [\"1/2\", 0.125]"}},
      {kBase + "[train]\nsteps = 2020-01-01\n",
       {"7:9: found a date or a time, which no parameter takes; put it in quotes if a text is meant"}},
      // plugins
      {"[task]\nplugin = \"image\"\n[attention]\nplugin = \"adamrra\"\nrates = [0.5]\n",
       {"4:10: unknown attention plugin \"adamrra\" (did you mean adamra? known: softmax, linear, compressed, adamra, mixed, "
        "tabled)"}},
      {"[task]\nplugin = \"image\"\n[attention]\nplugin = \"qwertyuiop\"\nrates = [0.5]\n",
       {"4:10: unknown attention plugin \"qwertyuiop\" (known: softmax, linear, compressed, adamra, mixed, tabled)"}},
      {"[task]\nplugin = \"image\"\n[attention]\nplugin = \"rbf\"\n",
       {"4:10: rbf is a plugin of the kind compression, and [attention] takes the kind attention (known: softmax, linear, "
        "compressed, adamra, mixed, tabled)"}},
      {"[task]\nplugin = \"image\"\n[attention]\nplugin = 3\n",
       {"4:10: attention.plugin = 3: expected the name of a plugin, a text"}},
      {"[attention]\nplugin = \"softmax\"\n",
       {"1:1: no task is named; write [task] and in it plugin = \"...\"; ablate plugins lists them"}},
      {"[task]\nplugin = \"image\"\n[attention]\nheads = 2\n",
       {"3:1: no attention is named; write [attention] and in it plugin = \"...\"; ablate plugins lists them"}},
      {"[task]\nplugin = \"image\"\n[attention]\nplugin = \"softmax\"\n[attention.compression]\nplugin = \"rbf\"\nwidth = 1\n",
       {"5:1: unknown key compression in [attention] (plugins with this parameter, which the study does not use: compressed, "
        "adamra)"}},
      // across parameters
      {kBase + "[train]\nbeta1_low = 0.85\nschedule = \"cosine\"\n",
       {"7:1: train.beta1_low does nothing: it is read only if schedule = one-cycle, which no trial has; set "
        "train.schedule, or leave train.beta1_low out"}},
      {kBase + "[train]\nbeta1_low = 0.95\n", {"7:13: train.beta1_low = 0.95 is more than train.beta1 = 0.9"}},
      {kBase + "[model]\nclassifier_hidden = 32\n",
       {"7:1: model.classifier_hidden does nothing: it is read only if classifier = mlp, which no trial has; set "
        "model.classifier, or leave model.classifier_hidden out"}},
      {kBase + "[model]\nclassifier = \"mlp\"\nclassifier_hidden = 32\ntied_output = true\n",
       {"8:21: model.classifier_hidden = 32: expected model.d_model = 64, because model.tied_output = true"}},
      {kBase + "[train]\nsteps = 10\nwarmup = 11\n",
       {"8:10: train.warmup = 11 is more than train.steps = 10; the warm-up is a part of the training"}},
      {kBase + "[train]\ndevice = \"gpu\"\n", {"7:10: train.device = \"gpu\": expected cpu, cuda, cuda:N or auto"}},
      // grid
      {kBase + "[grid]\nmodel.layers = []\n", {"7:16: model.layers is an empty list; leave it out or give it values"}},
      {kBase + "[grid]\nmodel.layers = 2\n",
       {"7:16: model.layers = 2: expected a list of values; a single value belongs in [model]"}},
      {kBase + "[grid]\nmodel.layrs = [1]\n", {"7:7: unknown key layrs in [model] (did you mean layers?)"}},
      {kBase + "[grid]\nlayers = [1]\n", {"7:1: unknown path layers (did you mean model.layers?)"}},
      {kBase + "[grid]\nattention = [\"softmax\"]\n",
       {"7:1: attention is a section; set its plugin with attention.plugin, or a plugin for each layer with "
        "attention=[{plugin=\"linear\"}, {plugin=\"softmax\"}]"}},
      {kBase + "[grid]\nmodle.layers = [1]\n", {"7:7: unknown section modle in modle.layers (did you mean model?)"}},
      {kBase + "[grid]\nlayers = 1\n", {"7:1: unknown path layers (did you mean model.layers?)"}},
      {kBase + "[grid]\nsedes = 2\n", {"7:1: unknown path sedes (did you mean seeds?)"}},
      {kBase + "[grid]\nsedes = [1, 2]\n", {"7:1: unknown path sedes (did you mean seeds?)"}},
      {kBase + "[[grid.row]]\nmodel.layers = 2\n", {"6:8: unknown list of tables row in [grid] (did you mean rows?)"}},
      {kBase + "[grid]\nseed = 2\n", {"7:1: seeds are set only by grid.seeds, as in seeds = [1, 2, 3]"}},
      {kBase + "[grid]\nseed = 2\nseeds = [2, 3]\n", {"7:1: seeds are set only by grid.seeds, as in seeds = [1, 2, 3]"}},
      {kBase + "[grid]\nseed = [1]\n", {"7:1: seeds are set only by grid.seeds, as in seeds = [1, 2, 3]"}},
      {kBase + "[grid]\nexperiment.name = [\"a\"]\n", {"7:12: [experiment] is the same for all trials"}},
      {kBase + "[grid]\nmodel.layers = [1, 65]\n", {"7:20: model.layers = 65: expected an integer in [0, 64]"}},
      {kBase + "[grid]\nattention.rates = [\"1/2\"]\n",
       {"7:20: attention.rates = \"1/2\": expected a list of 1 to 64 fractions in (0, 1] with denominators of "
        "at most 1,000,000, such as [\"1/2\", 0.125]; as an axis, write a list of such lists: [[\"1/2\"], [\"1/4\", "
        "\"1/8\"]]"}},
      {kBase + "[grid]\nattention.rates = [[\"1/8\"], [0.125]]\nseeds = 3\n",
       {"7:29: this gives the same trial as FILE:7:20; leave one of the two out"}},
      {kBase + "[train]\nsteps = 0\n", {"7:9: train.steps = 0: expected an integer in [1, 1000000000]"}},
      {kBase + "[grid]\nseeds = [1, 2, 1]\n", {"7:16: this gives the same trial as FILE:7:10; leave one of the two out"}},
      {kBase + "[grid]\nrows = [{model.layers = 2}, {}]\n",
       {"7:29: this gives the same trial as FILE:7:9; leave one of the two out"}},
      {kBase + "[grid]\nseeds = []\n",
       {"7:9: seeds = []: expected a list of integers (0 or more), or a number of seeds: 3 means 1, 2, 3"}},
      {kBase + "[grid]\nseeds = [1, \"x\"]\n",
       {"7:13: seeds = \"x\": expected a list of integers (0 or more), or a number of seeds: 3 means 1, 2, 3"}},
      {kBase + "[grid]\nseeds = 1000000000\n",
       {"7:9: found 1000000000 seeds, expected at most 100000: a study has no more trials than that"}},
      {kBase + "[grid]\nrows = []\n", {"7:8: grid.rows is empty; leave it out or fill it"}},
      {kBase + "[grid.rows]\nmodel.layers = 2\n", {"6:7: grid.rows is a list of tables; write [[grid.rows]]"}},
      {kBase + "[grid]\nrows = [3]\n", {"7:9: grid.rows holds 3, expected tables of path = value"}},
      {kBase + "[[grid.zip]]\nmodel.layers = [1, 2]\nmodel.hidden = [1, 2, 3]\n",
       {"8:16: model.hidden has 3 values, but model.layers in the same zip has 2; give both the same number"}},
      {kBase + "[[grid.zip]]\nmodel.layers = 3\n",
       {"7:16: model.layers = 3: expected a list of values, as long as the other lists of its zip"}},
      {kBase + "[grid]\nmodel.layers = [1]\nrows = [{model.layers = 2}]\n",
       {"7:7: model.layers is set by two parts of the grid, the other part is at FILE:8:16; keep one"}},
      {kBase + "[[grid.exclude]]\nmodel.layers = 9\n",
       {"6:1: this exclude rule matches no trial: model.layers = 9; correct it or leave it out"}},
      {kBase + "[[grid.exclude]]\nmodel.layers = 99\n", {"7:16: model.layers = 99: expected an integer in [0, 64]"}},
      {kBase + "[[grid.exclude]]\nmodel.layrs = 9\n", {"7:7: unknown key layrs in [model] (did you mean layers?)"}},
      {kBase + "[[grid.exclude]]\nattention.plugin = \"sotfmax\"\n",
       {"7:20: the study uses no attention plugin \"sotfmax\" (known: adamra)"}},
      {kBase + "[grid]\nseeds = 2\n[[grid.exclude]]\nmodel.layers = 2\n",
       {"6:1: the grid leaves no trial: every trial is excluded"}},
      {kBase + "[[grid.exclude]]\n", {"6:1: this exclude rule is empty: it would leave out every trial; give it path = value"}},
      {kBase + "[grid]\nseeds = 1000\nmodel.layers = [1,2,3,4,5,6,7,8,9,10,11]\ntrain.steps = [1,2,3,4,5,6,7,8,9,10]\n",
       {"6:1: the grid has more than 100000 trials; split the study"}},
      {"[task]\nplugin = \"image\"\n[attention.compression]\nplugin = \"rbf\"\n[grid]\nattention.plugin = [\"softmax\", "
       "\"adamra\"]\nattention.rates = [[\"1/2\"], [\"1/4\"]]\n",
       {"7:11: softmax has no parameter rates; put attention.rates in a row with the plugins that have it, or exclude the "
        "combination"}},
      {"[task]\nplugin = \"image\"\n[grid]\nattention.plugin = [\"softmax\", \"adamra\"]\nattention.compression.plugin = "
       "[\"rbf\"]\n",
       {"5:23: softmax has no parameter compression.plugin; put attention.compression.plugin in a row with the plugins that "
        "have "
        "it, or exclude the combination"}},
  };
  for (const auto& one : cases) {
    INFO(one.text);
    CHECK(errors(one.text) == one.expected);
  }
}

TEST_CASE("a base value that is wrong for one trial only is reported") {
  CHECK(errors("[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"rbf\"\nrates = [2.0]\n[grid]\nattention.plugin "
               "= [\"softmax\", \"adamra\"]\n")
            .size() == 1);
}

TEST_CASE("a wrong value causes no errors about other values, because its default replaces it") {
  CHECK(errors(kBase + "subheads = 3\n[model]\nd_model = \"96\"\n") ==
        Names{"8:11: model.d_model = \"96\": expected an integer in [1, 8192]"});
}

TEST_CASE("the same bad base value in many trials is one error") {
  CHECK(errors(kBase + "[train]\nsteps = 0\n[grid]\nseeds = 50\nmodel.layers = [1, 2, 3]\n") ==
        Names{"7:9: train.steps = 0: expected an integer in [1, 1000000000]"});
}

TEST_CASE("an attention without the compression that it needs is reported at its place") {
  const std::string bare = "[task]\nplugin = \"image\"\n[attention]\nplugin = \"adamra\"\n";
  const std::string why =
      "adamra needs a compression plugin, and attention.compression names none; write [attention.compression] and in it plugin "
      "= "
      "\"...\" (known: segment-mean, rbf)";
  CHECK(errors(bare) == Names{"4:10: " + why});
  CHECK(errors(bare + "[attention.compression]\nwidth = 1\n") == Names{"5:1: " + why});
}

TEST_CASE("all errors are reported at once, in the order of the file") {
  const auto found = errors(R"([task]
plugin = "imge"
pol = 2
[modle]
layers = 2
[attention]
plugin = "adamra"
compression.plugin = "rbf"
rates = [3]
rooting = "learned"
[train]
steps = -1
warmup = "x"
device = "tpu"
[grid]
seeds = ["a"]
train.bach = [1]
model.layers = [1, 99]
[[grid.exclude]]
model.depth = 3
)");
  std::string places;
  for (const auto& error : found) places += error.substr(0, error.find(": ")) + " ";
  CHECK(places == "2:10 3:1 4:2 9:9 10:1 12:9 13:10 14:10 16:10 17:7 18:20 20:7 ");
}

TEST_CASE("a syntax error is reported at its place") {
  const auto found = errors("[task]\nplugin = \"image\n");
  REQUIRE(found.size() == 1);
  CHECK(found[0].find("2:") == 0);
  CHECK(found[0].find("not valid TOML") != std::string::npos);
}

TEST_CASE("a text without quotes is reported as a text that needs quotes") {
  const auto ends = [](const std::string& text, const std::string& end) {
    const auto found = errors(text);
    INFO(found.front());
    CHECK(found.size() == 1);
    CHECK(found.front().find("not valid TOML") != std::string::npos);
    CHECK(found.front().ends_with(end));
  };
  ends("[task]\nplugin = image\n", "; a text needs quotes: \"image\"");
  ends("[task]\nplugin = \"image\"\ndata = fashion-mnist", "; a text needs quotes: \"fashion-mnist\"");  // begins like "false"
  ends("[task]\nplugin = infix # one\n", "; a text needs quotes: \"infix\"");
  ends("[grid]\nrows = [ { attention.plugin = softmax, x = 1 } ]\n", "; a text needs quotes: \"softmax\"");
  ends("[grid]\nattention.plugin = [\"a\", linear]\n", "; a text needs quotes: \"linear\"");
  ends("[attention]\nrates = [1/8]\n", "; a text needs quotes: \"1/8\"");
  for (const auto* text : {"[task]\nplugin = \"image\n", "[task\n", "a = 1 2\n", "=", "", "a = ", "[task]\na b = 1\n"})
    for (const auto& error : errors(text)) CHECK(error.find("needs quotes") == std::string::npos);
}

TEST_CASE("a rate that is in (0, 1], but is refused, is reported with the reason") {
  for (const auto* rate : {"\"1/1000001\"", "1e-7"}) {
    const auto found = errors(kBase + "rates = [" + rate + "]\n");
    REQUIRE(found.size() == 1);
    CHECK(found[0].find("denominators of at most 1,000,000") != std::string::npos);
  }
}

TEST_CASE("what() has one line for each error, in the format of compilers") {
  try {
    studies::load(kBase + "[train]\nsteps = 0\nwarmup = -1\n", {"model.layers=-1"});
    FAIL("no error");
  } catch (const ablate::ConfigError& error) {
    const std::string text = error.what();
    CHECK(error.code() == ablate::ExitCode::kUsage);
    CHECK(text.find("study.toml:7:9: train.steps = 0: expected an integer") != std::string::npos);
    CHECK(text.find("\n--set model.layers=-1: model.layers = -1: expected an integer in [0, 64]") != std::string::npos);
    CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  }
}

TEST_CASE("a missing file and a folder are refused") {
  for (const auto& path : {"/nonexistent/study.toml", "/tmp"}) {
    try {
      ablate::load_study(path, {}, studies::catalog());
      FAIL("no error");
    } catch (const ablate::ConfigError& error) {
      CHECK(std::string(error.what()).find(std::string(path) + ": cannot be read: ") == 0);
    }
  }
}

TEST_CASE("devices, types, positions or dropout that a plugin does not promise are refused where they are set") {
  auto plugins = studies::catalog();
  for (auto& one : plugins.plugins) {
    one.capabilities.half_precision = one.id == "softmax" || one.id == "adamra";
    one.capabilities.cuda = one.id != "segment-mean";
    one.capabilities.rotary = one.capabilities.weight_dropout = one.id == "softmax";
  }
  const std::string image = "[task]\nplugin = \"image\"\n[attention]\nplugin = ";
  const auto with = [&](const std::string& rest) { return errors(image + rest, {}, plugins); };
  CHECK(with("\"softmax\"\n[train]\ndtype = \"bfloat16\"\ndevice = \"cuda\"\n").empty());
  CHECK(with("\"linear\"\n[train]\ndtype = \"bfloat16\"\n") ==
        Names{"6:9: train.dtype = \"bfloat16\", but attention linear does not promise to run in half precision"});
  const std::string adamra = "\"adamra\"\ncompression.plugin = \"segment-mean\"\n";
  CHECK(with(adamra + "[train]\ndtype = \"bfloat16\"\n") ==
        Names{"7:9: train.dtype = \"bfloat16\", but compression segment-mean does not promise to run in half precision"});
  CHECK(with(adamra + "[train]\ndevice = \"cuda:1\"\n") ==
        Names{"7:10: train.device = \"cuda:1\", but compression segment-mean does not promise to run on CUDA devices"});
  CHECK(with("\"softmax\"\n[model]\npositions = \"rotary\"\n").empty());
  CHECK(with("\"linear\"\n[model]\npositions = \"rotary\"\n") ==
        Names{"6:13: model.positions = \"rotary\", but attention linear does not promise rotary positions; choose none if it "
              "has its own positions, else learned or sinusoidal"});
  CHECK(with("\"softmax\"\n[model]\nattention_dropout = 0.1\n").empty());
  CHECK(with("\"linear\"\n[model]\nattention_dropout = 0.1\n") ==
        Names{"6:21: model.attention_dropout = 0.1, but attention linear does not promise to drop attention weights; leave "
              "model.attention_dropout at 0 for it"});
}
