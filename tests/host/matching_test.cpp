// [grid.match]: widths at which all settings have the reference's number of parameters or of bytes of state.
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using ablate::ModelSizes;
using ablate::Trial;
using Names = std::vector<std::string>;

namespace {

/// Computes sizes of models, and counts the models. Without the feed-forward part, adamra has twice the parameters of other
/// attentions. The size of linear's state depends on d_model and on linear's heads. Heads must divide d_model.
struct Counter {
  std::vector<ModelSizes> operator()(const std::vector<Trial>& trials) {
    std::vector<ModelSizes> all;
    for (const auto& trial : trials) {
      ++models;
      const auto& [task, model, attention, train, seed] = trial.spec;
      const auto& one = attention.all.front();
      const auto heads = one.values.value("heads", std::int64_t{1});
      ModelSizes sizes;
      const std::int64_t own = one.id == "adamra" ? 8 : 4;
      sizes.parameters =
          own * model.d_model * model.d_model + 2 * model.hidden * model.d_model + (task.id == "listops" ? 9000 : 0);
      if (one.id == "linear") sizes.state_bytes = 4 * model.d_model * model.d_model / heads;
      if (model.d_model % heads != 0) sizes.refused = "heads = " + std::to_string(heads) + " does not divide its width";
      all.push_back(sizes);
    }
    return all;
  }
  int models = 0;
};

// Lines 1 to 8 of a study. Text that a test appends starts at line 9.
const std::string kBase =
    "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"segment-mean\"\n[model]\nd_model = 32\nhidden = "
    "256\n[grid]\n";
const std::string kPlugins = "attention.plugin = [\"softmax\", \"adamra\"]\n";
const std::string kMatch = "[grid.match]\nparameters = \"attention=softmax\"\nwidth = \"model.hidden\"\n";

ablate::Study load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return studies::load(text, overrides, studies::catalog(), Counter());
}

Names errors(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return studies::errors(text, overrides, studies::catalog(), Counter());
}

std::vector<std::int64_t> hidden(const ablate::Study& study) {
  std::vector<std::int64_t> all;
  for (const auto& trial : study.trials) all.push_back(trial.spec.model.hidden);
  return all;
}

}  // namespace

TEST_CASE("a setting with enough parameters and no feed-forward part stays without it") {
  auto base = kBase;
  base.replace(base.find("256"), 3, "0");
  base += "attention.plugin = [\"adamra\", \"softmax\", \"linear\"]\n[grid.match]\nwidth = \"model.hidden\"\nparameters = ";
  CHECK(hidden(load(base + "\"attention=softmax\"\n")) == std::vector<std::int64_t>{1, 0, 0});
  CHECK(hidden(load(base + "\"attention=adamra\"\n")) == std::vector<std::int64_t>{0, 64, 64});
}

TEST_CASE("each setting gets the width that matches its reference's parameters, and equals a setting with this width") {
  const auto study = load(kBase + "seeds = 2\n" + kPlugins + kMatch);
  CHECK(hidden(study) == std::vector<std::int64_t>{256, 256, 192, 192});  // adamra's width is smaller by 2 d_model
  REQUIRE(study.matched.size() == 1);
  CHECK(study.matched[0].setting == "attention=adamra");
  CHECK(study.matched[0].width == 192);
  CHECK(study.matched[0].number == 20480);
  CHECK(study.matched[0].reference == 20480);
  CHECK(study.trials[2].label == "attention=adamra model.hidden=192 seed=1");
  CHECK(study.trials[2].where.find("model.hidden")->line == 13);
  CHECK(study.trials[0].where.find("model.hidden")->line == 7);
  // The same widths written by hand give the same trials.
  const auto written = studies::load(kBase + "seeds = 2\n[[grid.zip]]\n" + kPlugins + "model.hidden = [256, 192]\n");
  for (std::size_t i = 0; i < study.trials.size(); ++i) CHECK(study.trials[i].spec == written.trials[i].spec);
}

TEST_CASE("if no width matches the number, the nearest is used, and its distance is reported") {
  const auto study = load(kBase + kPlugins + kMatch, {"model.d_model=128", "model.hidden=16"});
  CHECK_FALSE(study.match);  // an override of the width has precedence
  const auto near = load(
      "[task]\nplugin = \"image\"\n[attention]\ncompression.plugin = \"segment-mean\"\n[model]\nd_model = "
      "128\nhidden = 16\n[grid]\n" +
      kPlugins + kMatch);
  REQUIRE(near.matched.size() == 1);
  CHECK(near.matched[0].width == 1);  // 0 would remove the feed-forward part
  CHECK(near.matched[0].off() == Approx(131328.0 / 69632 - 1));
}

TEST_CASE("a setting and its reference agree in all parts of the grid that do not name the reference") {
  const auto tasks = load(
      "[attention]\ncompression.plugin = \"segment-mean\"\n[model]\nd_model = 32\n[grid]\ntask.plugin = "
      "[\"image\", \"listops\"]\nmodel.layers = [1, 2]\n" +
      kPlugins + kMatch);
  REQUIRE(tasks.matched.size() == 4);
  CHECK(tasks.matched[0].reference == 12288);
  CHECK(tasks.matched[2].reference == 21288);
  CHECK(tasks.matched[2].setting == "task=listops model.layers=1 attention=adamra");
}

TEST_CASE("bytes of a state are matched by d_model, which must be divisible by the heads") {
  const auto study = load(
      "[task]\nplugin = \"image\"\n[model]\nd_model = 32\n[grid]\nrows = [{ attention.plugin = \"linear\", attention.heads = 1 "
      "}, { "
      "attention.plugin = \"linear\", attention.heads = 5 }]\n[grid.match]\nstate_bytes = \"attention=linear "
      "attention.heads=1\"\nwidth = \"model.d_model\"\n");
  REQUIRE(study.matched.size() == 1);
  CHECK(study.matched[0].width == 70);
  CHECK(study.matched[0].number == 3920);
  CHECK(study.matched[0].reference == 4096);
}

TEST_CASE("training settings change no width, and dev chooses among their values even if widths are matched") {
  Counter counter;
  const auto text = kBase + "seeds = 2\n" + kPlugins + kMatch + "[grid.tune]\ntrain.learning_rate = [1e-3, 1e-2, 3e-2]\n";
  const auto study = studies::load(text, {}, studies::catalog(), std::ref(counter));
  REQUIRE(study.trials.size() == 12);
  CHECK(study.matched.size() == 1);
  for (std::size_t i = 0; i < 12; ++i) {
    CHECK(study.trials[i].cell == static_cast<std::int64_t>(i / 6));
    CHECK(study.trials[i].spec.model.hidden == (i < 6 ? 256 : 192));
  }
  const int asked = counter.models;
  Counter once;
  static_cast<void>(studies::load(kBase + kPlugins + kMatch, {}, studies::catalog(), std::ref(once)));
  CHECK(asked <= once.models + 2);  // two more: the reference at the other two rates
  // A tuned value that changes the number of parameters leads to another width in the same cell.
  const auto layers = load(kBase + kPlugins + kMatch + "[grid.tune]\nmodel.d_model = [32, 64]\n", {});
  REQUIRE(layers.trials.size() == 4);
  CHECK(hidden(layers) == std::vector<std::int64_t>{256, 256, 192, 128});
  CHECK(layers.trials[2].cell == layers.trials[3].cell);
}

TEST_CASE("excluded settings have no width, and an override of the width removes the match") {
  const auto excluded = load(kBase + "model.layers = [1, 2]\n" + kPlugins + kMatch +
                             "[[grid.exclude]]\nattention.plugin = \"adamra\"\nmodel.layers = 2\n");
  CHECK(excluded.trials.size() == 3);
  CHECK(excluded.matched.size() == 1);
  const auto set = load(kBase + kPlugins + kMatch, {"model.hidden=40"});
  CHECK(hidden(set) == std::vector<std::int64_t>{40, 40});
  CHECK(set.matched.empty());
}

TEST_CASE("errors in a match are reported at their place") {
  struct Case {
    std::string text;
    Names expected;
  };
  const auto grid = kBase + kPlugins;  // up to line 9
  const std::vector<Case> cases = {
      {kBase + "match = 3\n" + kPlugins,
       {"9:1: grid.match is a table; write [grid.match], and in it parameters = \"attention=softmax\" and width = "
        "\"model.hidden\""}},
      {grid + "[grid.match]\nparameter = \"attention=softmax\"\nwidth = \"model.hidden\"\n",
       {"11:1: unknown key parameter in [grid.match] (did you mean parameters?)"}},
      {grid + "[grid.match]\nwidth = \"model.hidden\"\n",
       {"10:1: grid.match names no reference; write parameters = \"attention=softmax\" and width = \"model.hidden\""}},
      {grid + "[grid.match]\nparameters = \"attention=softmax\"\n",
       {"10:1: grid.match names no width that may change; write parameters = \"attention=softmax\" and width = "
        "\"model.hidden\""}},
      {grid +
           "[grid.match]\nparameters = \"attention=softmax\"\nstate_bytes = \"attention=softmax\"\nwidth = \"model.hidden\"\n",
       {"12:1: grid.match has parameters already, and one width can match only one number; keep one of the two"}},
      {grid + "[grid.match]\nparameters = 3\nwidth = 4\n",
       {"11:14: grid.match.parameters = 3: expected the reference's settings, as \"attention=softmax\"",
        "12:9: grid.match.width = 4: expected the path of a whole number, as \"model.hidden\""}},
      {grid + "[grid.match]\nparameters = \"attention=softmx\"\nwidth = \"model.hiden\"\n",
       {"11:14: the study uses no attention plugin \"softmx\" (did you mean softmax?)",
        "12:9: grid.match.width = model.hiden: unknown key hiden in [model] (did you mean hidden?)"}},
      {grid + "[grid.match]\nparameters = \"attention=softmax attention.haeds=2\"\nwidth = \"model.hidden\"\n",
       {"11:14: unknown key haeds in [attention] (did you mean heads?)"}},
      {grid + "[grid.match]\nparameters = \"softmax\"\nwidth = \"model.hidden\"\n",
       {"11:14: grid.match.parameters = \"softmax\": expected settings, PATH=VALUE with blanks between, as "
        "\"attention=softmax attention.heads=2\""}},
      {grid + "[grid.match]\nparameters = \"model.layers=7\"\nwidth = \"model.hidden\"\n",
       {"11:14: grid.match: no setting of the grid is the reference model.layers=7; name a setting of the grid, or leave the "
        "match out with --set model.hidden=N"}},
      {grid + "[grid.match]\nparameters = \"model.hidden=256\"\nwidth = \"model.hidden\"\n",
       {"11:14: grid.match: every setting of the grid is the reference model.hidden=256; name the settings that "
        "distinguish it, or leave the match out with --set model.hidden=N"}},
      {grid + "[grid.match]\nparameters = \"attention=softmax\"\nwidth = \"model.dropout\"\n",
       {"12:9: grid.match.width = model.dropout: expected a whole number of [model] or of an attention, as model.hidden"}},
      {grid + "[grid.match]\nparameters = \"attention=softmax\"\nwidth = \"train.batch\"\n",
       {"12:9: grid.match.width = train.batch: expected a whole number of [model] or of an attention, as model.hidden"}},
      {grid + "[grid.match]\nparameters = \"attention=softmax\"\nwidth = \"model.segment\"\n",
       {"12:9: grid.match.width = model.segment: attention=adamra: found 24576 at widths 1 and 16, expected a number that "
        "changes with the width; name another width"}},
      {grid + "[grid.match]\nparameters = \"attention=softmax\"\nwidth = \"attention.heads\"\n",
       {"12:9: grid.match.width = attention.heads: attention=adamra has no such width; name a width of all settings, as "
        "model.hidden"}},
      {grid + "model.hidden = [64, 128]\n" + kMatch,
       {"10:7: model.hidden is the width that grid.match solves for, and the grid sets it, too; keep one of the two"}},
      {grid + kMatch + "[[grid.exclude]]\nmodel.hidden = 64\n",
       {"14:7: model.hidden cannot be named: grid.match solves for it; name other parameters"}},
      {kBase +
           "rows = [{ attention.plugin = \"softmax\", attention.heads = 1 }, { attention.plugin = \"softmax\" }, { "
           "attention.plugin = \"adamra\" }]\n" +
           kMatch,
       {"11:14: grid.match: found 2 references for attention=adamra, expected one; the first are attention=softmax "
        "attention.heads=1 and attention=softmax. Name more values of the reference, as \"attention=softmax "
        "attention.heads=2\""}},
      {kBase +
           "rows = [{ attention.plugin = \"softmax\" }, { attention.plugin = \"linear\" }, { attention.plugin = \"adamra\" "
           "}]\n" +
           "[grid.match]\nparameters = \"attention=softmax\"\nwidth = \"model.segment\"\n",
       {"12:9: grid.match.width = model.segment: attention=adamra: found 24576 at widths 1 and 16, expected a number that "
        "changes with the width; name another width"}},  // linear matches already
      {grid + "model.layers = [1, 2]\n[[grid.exclude]]\nattention.plugin = \"softmax\"\nmodel.layers = 2\n" + kMatch,
       {"15:14: grid.match: found no reference attention=softmax for attention=adamra model.layers=2, expected a setting that "
        "differs from it only in parts of the grid that name the reference. If only the setting or only the reference has a "
        "value, put that value in a row of the grid"}},
      {grid + "[grid.match]\nstate_bytes = \"attention=softmax\"\nwidth = \"model.hidden\"\n",
       {"11:15: grid.match: the reference attention=softmax: it has no state bytes; only attentions with a state have state "
        "bytes, and only on a stream"}},
  };
  for (const auto& [text, expected] : cases) {
    INFO(text);
    CHECK(errors(text) == expected);
  }
  CHECK(studies::errors(grid + kMatch) == Names{"10:1: grid.match needs a worker to count with, and no worker runs here"});
}

TEST_CASE("a task that cannot describe itself ends the search, with its own message") {
  const auto wrong = studies::errors(kBase + kPlugins + kMatch, {}, studies::catalog(),
                                     [](const auto&) -> std::vector<ModelSizes> { throw ablate::Error("no such data"); });
  CHECK(wrong == Names{"10:1: grid.match: no such data"});
}
