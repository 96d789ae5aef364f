// Values that no trial would read, because another parameter does not have the value that they need.
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using studies::Folder;
using Names = std::vector<std::string>;

namespace {

studies::Catalog catalog() {
  using namespace ablate;
  auto all = studies::catalog();
  all.plugins.push_back(studies::plugin(
      Kind::kTask, "mad",
      {text("kind", "\"recall\"", "copying|noisy-recall|recall", "kind"), integer("length", "0", {0, 64}, "length"),
       when("kind = noisy-recall", real("noise", "0.2", {0, 0.99}, "noise"))}));
  all.plugins.push_back(studies::plugin(
      Kind::kTask, "loud", {boolean("quiet", "false", "quiet"), when("quiet = false", real("noise", "1", {0, 2}, "noise"))}));
  all.plugins.push_back(studies::plugin(Kind::kTask, "noisy", {real("noise", "1", {0, 2}, "noise")}));
  return all;
}

Names errors(const std::string& text, const Names& overrides = {}) { return studies::errors(text, overrides, catalog()); }

// Lines 1 to 4 of a study. Text that a test appends belongs to the task, from line 5 on.
const std::string kBase = "[attention]\nplugin = \"softmax\"\n[task]\nplugin = \"mad\"\n";
const std::string kUnread =
    "task.noise does nothing: mad reads it only if kind = noisy-recall, which no trial has; set task.kind, or leave "
    "task.noise out";

}  // namespace

TEST_CASE("a base value that no trial reads is refused at its place, even if it is the default") {
  CHECK(errors(kBase + "noise = 0.5\n") == Names{"5:1: " + kUnread});
  CHECK(errors(kBase + "noise = 0.2\n") == Names{"5:1: " + kUnread});
  CHECK(errors(kBase + "noise = 0.5\n[grid]\ntask.kind = [\"copying\", \"recall\"]\nseeds = 3\n") == Names{"5:1: " + kUnread});
}

TEST_CASE("a base value that a trial reads is accepted") {
  CHECK(errors(kBase + "noise = 0.5\nkind = \"noisy-recall\"\n").empty());
  CHECK(errors(kBase + "noise = 0.5\n[grid]\ntask.kind = [\"copying\", \"noisy-recall\"]\n").empty());
  CHECK(errors(kBase + "noise = 0.5\n[grid]\ntask.plugin = [\"mad\", \"noisy\"]\n").empty());
  CHECK(errors("[attention]\nplugin = \"softmax\"\n[task]\nplugin = \"loud\"\nnoise = 0.5\n").empty());
}

TEST_CASE("a condition may name a value that is not a text") {
  CHECK(errors("[attention]\nplugin = \"softmax\"\n[task]\nplugin = \"loud\"\nnoise = 0.5\nquiet = true\n") ==
        Names{"5:1: task.noise does nothing: loud reads it only if quiet = false, which no trial has; set task.quiet, or "
              "leave task.noise out"});
}

TEST_CASE("a grid's value is refused for each combination that does not read it") {
  const std::string why =
      ": mad reads it only if kind = noisy-recall; put it in a row that meets this condition, or exclude the combination";
  CHECK(errors(kBase + "[grid]\ntask.kind = [\"copying\", \"noisy-recall\"]\ntask.noise = [0.1, 0.2]\n") ==
        Names{"7:6: task.noise does nothing with task.kind = \"copying\"" + why});
  CHECK(
      errors(kBase + "[grid]\nrows = [{task.kind = \"noisy-recall\", task.noise = 0.1}, {task.kind = \"copying\"}]\n").empty());
  CHECK(errors(kBase + "[grid]\ntask.kind = [\"copying\", \"noisy-recall\"]\ntask.noise = [0.1]\n[[grid.exclude]]\ntask.kind = "
                       "\"copying\"\n")
            .empty());
}

TEST_CASE("an override that no trial reads is refused; a value of the file that is unread because of an override is accepted") {
  const auto noisy = kBase + "kind = \"noisy-recall\"\nnoise = 0.5\n";
  CHECK(errors(noisy, {"task.kind=recall"}).empty());
  CHECK(errors(kBase + "noise = 0.5\n", {"train.steps=3"}) == Names{"5:1: " + kUnread});
  CHECK(errors(noisy, {"task.kind=recall", "task.noise=0.1"}) == Names{"--set: task.noise=0.1: " + kUnread});
}

TEST_CASE("a row of the file that an override leaves unread is accepted") {
  const auto rows =
      kBase + "[grid]\nrows = [{task.kind = \"noisy-recall\", task.noise = 0.1}, {task.kind = \"recall\", task.length = 8}]\n";
  CHECK(errors(rows).empty());
  CHECK(errors(rows, {"task.kind=copying"}).empty());
}

TEST_CASE("a preset's unread values are accepted because they serve other studies") {
  const Folder folder;
  folder.write("[task]\nplugin = \"mad\"\nkind = \"noisy-recall\"\nnoise = 0.5\n", "presets/noisy.toml");
  const auto study =
      folder.write("[experiment]\npreset = \"noisy\"\n[attention]\nplugin = \"softmax\"\n[task]\nkind = \"recall\"\n");
  CHECK(ablate::load_study(study, {}, catalog()).trials.size() == 1);
}

TEST_CASE("a wrong value that a condition names is the only error reported") {
  CHECK(errors(kBase + "noise = 0.5\nkind = \"noisy\"\n") ==
        Names{"6:8: task.kind = \"noisy\": expected one of copying, noisy-recall, recall"});
}

TEST_CASE("a value of the host's own parameters is refused if no trial reads it, also under a condition like hidden > 0") {
  // Lines 1 to 5 of a study. Text that a test appends belongs to the model, from line 6 on.
  const std::string model = "[task]\nplugin = \"image\"\n[attention]\nplugin = \"softmax\"\n[model]\n";
  const auto idle = [](const std::string& where, const std::string& path, const std::string& condition) {
    return where + ": model." + path + " does nothing with model.hidden = 0: it is read only if " + condition +
           "; put it in a row that meets this condition, or exclude the combination";
  };
  const std::string axes = "[grid]\nmodel.activation = [\"gelu\", \"relu\"]\nmodel.inner_dropout = [0.1, 0.2]\n";
  CHECK(errors(model + "hidden = 0\n" + axes) ==
        Names{idle("8:7", "activation", "hidden > 0"), idle("9:7", "inner_dropout", "hidden > 0")});
  CHECK(errors(model + "hidden = 8\n" + axes).empty());
  CHECK(errors(model + "[grid]\nrows = [{model.hidden = 0}, {model.hidden = 8, model.activation = \"relu\"}]\n").empty());
  const auto nowhere = [](const std::string& where, const std::string& path) {
    return where + ": model." + path + " does nothing: it is read only if layers > 0, which no trial has; set model.layers, " +
           "or leave model." + path + " out";
  };
  CHECK(errors(model + "layers = 0\nhidden = 32\ninner_dropout = 0.1\n") ==
        Names{nowhere("7:1", "hidden"), nowhere("8:1", "inner_dropout")});
  CHECK(errors(model + "hidden = 32\n[grid]\nmodel.layers = [0, 2]\n").empty());
  CHECK(errors(model + "layers = 0\n[grid]\nattention.heads = [1, 2]\n").empty());  // heads may vary even without layers
  CHECK(errors(model + "[train]\nbeta1_low = 0.85\n[grid]\ntrain.schedule = [\"one-cycle\", \"cosine\"]\n").empty());
  CHECK(errors(model + "hidden = -1\ninner_dropout = 0.1\n").size() == 1);
}

TEST_CASE("an optimiser's parameters are read only with this optimiser") {
  const std::string train = kBase + "[train]\n", rows = "[grid]\ntrain.optimizer = [\"adamw\", \"sgd\"]\n";
  const auto nowhere = [](const std::string& where, const std::string& name, const std::string& optimizer) {
    return Names{where + ": train." + name + " does nothing: it is read only if optimizer = " + optimizer +
                 ", which no trial has; set train.optimizer, or leave train." + name + " out"};
  };
  CHECK(errors(train + "momentum = 0.5\n") == nowhere("6:1", "momentum", "sgd"));
  for (const std::string name : {"beta1", "beta1_low", "beta2", "epsilon"}) {
    CHECK(errors(train + "optimizer = \"sgd\"\n" + name + " = 0.5\n") == nowhere("7:1", name, "adamw"));
    CHECK(errors(train + name + " = 0.5\n").empty());
  }
  CHECK(errors(train + "momentum = 0.5\nbeta2 = 0.5\n" + rows).empty());
  CHECK(errors(train + "optimizer = \"adam\"\n") == Names{"6:13: train.optimizer = \"adam\": expected one of adamw, sgd"});
}

TEST_CASE("parameters of a schedule and `decayed` are read only under their condition; unlisted choices are refused") {
  const std::string train = kBase + "[train]\n";
  const auto nowhere = [](const std::string& name, const std::string& condition, const std::string& other) {
    return Names{"6:1: train." + name + " does nothing: it is read only if " + condition + ", which no trial has; set train." +
                 other + ", or leave train." + name + " out"};
  };
  CHECK(errors(train + "cosine_floor = 0.1\n") == nowhere("cosine_floor", "schedule = cosine", "schedule"));
  CHECK(errors(train + "cooldown = 0.1\n") == nowhere("cooldown", "schedule = wsd", "schedule"));
  CHECK(errors(train + "cooldown_shape = \"linear\"\n") == nowhere("cooldown_shape", "schedule = wsd", "schedule"));
  CHECK(errors(train + "decayed = \"matrices\"\n") == nowhere("decayed", "weight_decay > 0", "weight_decay"));
  CHECK(errors(train + "decayed = \"matrices\"\nweight_decay = 0.1\nschedule = \"cosine\"\ncosine_floor = 0.1\n").empty());
  CHECK(errors(train + "decayed = \"weights\"\nweight_decay = 0.1\n") ==
        Names{"6:11: train.decayed = \"weights\": expected one of all, matrices"});
  CHECK(errors(kBase + "[model]\nnorm_type = \"batch\"\nfeed_forward = \"swiglu\"\nactivation = \"swish\"\n") ==
        Names{"6:13: model.norm_type = \"batch\": expected one of layer, rms",
              "7:16: model.feed_forward = \"swiglu\": expected one of mlp, gated",
              "8:14: model.activation = \"swish\": expected one of gelu, relu, silu"});
  CHECK(errors(kBase + "[model]\nhidden = 0\nfeed_forward = \"gated\"\n") ==
        Names{"7:1: model.feed_forward does nothing: it is read only if hidden > 0, which no trial has; set model.hidden, or "
              "leave model.feed_forward out"});
}

TEST_CASE("a schedule that lacks a needed warm-up, or whose warm-up overlaps its cooldown, is refused where it is set") {
  const std::string train = kBase + "[train]\nsteps = 100\n";
  CHECK(errors(train + "schedule = \"inverse-sqrt\"\n") ==
        Names{"7:12: train.schedule = inverse-sqrt needs a warm-up, and train.warmup is 0: the rate is its peak times "
              "sqrt(warmup / step); set train.warmup to the number of steps before the rate falls"});
  CHECK(errors(train + "schedule = \"inverse-sqrt\"\nwarmup = 1\n").empty());
  const std::string wsd = train + "schedule = \"wsd\"\n";
  CHECK(errors(wsd + "warmup = 80\n").empty());
  CHECK(errors(wsd + "warmup = 81\n") ==
        Names{"8:10: train.cooldown = 0.2: the rate would fall before train.warmup = 81 of 100 steps are over"});
  CHECK(errors(wsd + "warmup = 10\ncooldown = 0.95\n") ==
        Names{"9:12: train.cooldown = 0.95: the rate would fall before train.warmup = 10 of 100 steps are over"});
  CHECK(errors(wsd + "cooldown = 1\n").empty());
  CHECK(errors(wsd + "cooldown = 1.5\n") == Names{"8:12: train.cooldown = 1.5: expected a number in [0, 1]"});
}
