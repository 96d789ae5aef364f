// Requirements of a study that its data or the machine do not meet are reported with their location, before anything runs.
#include "core/host/study/start_checks.h"

#include "core/shared/evaluations.h"
#include "tests/host/studies.h"
#include "tests/support/catch.h"

using ablate::TaskShape;

namespace {

std::vector<std::string> messages(const std::vector<ablate::Diagnostic>& found) {
  std::vector<std::string> all;
  for (const auto& one : found) all.push_back(std::to_string(one.where.line) + ": " + one.message);
  return all;
}

using Messages = std::vector<std::string>;

ablate::PluginInfo* find(ablate::Catalog& catalog, const std::string& id) {
  for (auto& plugin : catalog.plugins)
    if (plugin.id == id) return &plugin;
  return nullptr;
}

ablate::Capabilities declared(const ablate::PluginUse& use) { return use.info->capabilities; }

const std::string kGrid =
    "[task]\nplugin = \"image\"\n[grid]\nattention.plugin = [\n\"softmax\",\n\"linear\"]\ntrain.device = [\"cpu\",\n\"cuda\",\n"
    "\"cuda:1\"]\n";

}  // namespace

TEST_CASE("a device that this machine lacks is refused where it is written") {
  const auto study = studies::load(kGrid);
  std::vector<std::string> asked;
  const auto found = messages(check_devices(study, [&](const std::string& device, bool) {
    asked.push_back(device);
    return std::string(device == "cuda" ? "" : "no such device");
  }));
  CHECK(asked == std::vector<std::string>{"cuda", "cuda:1"});  // each device once, and never the CPU
  CHECK(found == Messages{"9: train.device = \"cuda:1\": no such device"});
}

TEST_CASE("mixed products need a CPU and fused forms") {
  const std::string image = "[task]\nplugin = \"image\"\n[attention]\nplugin = ";
  const auto with = [&](const std::string& rest) { return studies::errors(image + rest); };
  CHECK(with("\"linear\"\n[train]\ndtype = \"mixed\"\n").empty());  // the same as float32, which every plugin promises
  CHECK(
      with("\"softmax\"\n[train]\ndtype = \"mixed\"\ndevice = \"cuda\"\n") ==
      Messages{
          "6:9: train.dtype = \"mixed\" needs train.device = cpu, found cuda: set the device to cpu, or the type to bfloat16"});
  CHECK(with("\"softmax\"\n[train]\nkernels = \"reference\"\ndtype = \"mixed\"\n") ==
        Messages{"7:9: train.dtype = \"mixed\" changes only fused forms, and train.kernels = \"reference\" runs no fused "
                 "forms: leave one of the two out"});
}

TEST_CASE("the machine is queried once for mixed products, which are refused where they are written") {
  const auto study = studies::load(
      "[task]\nplugin = \"image\"\n[attention]\nplugin = \"linear\"\n[grid]\nseeds = [1, 2]\ntrain.dtype = [\"float32\",\n"
      "\"mixed\"]\n");
  int asked = 0;
  const auto found = messages(check_devices(study, [&](const std::string& device, bool mixed) {
    CHECK((device == "cpu" && mixed));
    ++asked;
    return std::string("none here");
  }));
  CHECK(asked == 1);
  CHECK(found == Messages{"8: train.dtype = \"mixed\": none here"});
}

TEST_CASE("lengths that a plugin does not promise are refused, and the class token counts as a token") {
  auto catalog = studies::catalog();
  find(catalog, "linear")->capabilities.length_multiple = 4;
  find(catalog, "segment-mean")->capabilities.length_multiple = 3;
  const auto found = [&](const std::string& rest, std::int64_t tokens, bool pooled = true) {
    return messages(check_asked(
        studies::load("[task]\nplugin = \"image\"\n" + rest), catalog,
        [=](const auto&) { return TaskShape{.length = tokens, .pooled = pooled}; }, declared));
  };
  const std::string linear = "[attention]\nplugin = \"linear\"\n";
  CHECK(found(linear, 64).empty());
  CHECK(found(linear, 63) == Messages{"4: attention linear needs sequences of a multiple of 4 tokens, and the longest has 63"});
  CHECK(found(linear + "[model]\npooling = \"cls\"\n", 63).empty());
  CHECK(found(linear + "[model]\nsegment = 8\n", 63).empty());  // attentions see one segment of an example at a time
  CHECK(found(linear + "[model]\nsegment = 9\n", 64) ==
        Messages{"4: attention linear needs sequences of a multiple of 4 tokens, and the longest has 9"});
  CHECK(found(linear + "[model]\npooling = \"cls\"\n", 64, false).empty());  // targets at positions: nothing is pooled
  CHECK(found(linear + "[model]\npooling = \"cls\"\n", 64) ==
        Messages{"4: attention linear needs sequences of a multiple of 4 tokens, and the longest has 65 with the class token "
                 "(model.pooling = \"cls\")"});
  const std::string compressed = "[attention]\nplugin = \"compressed\"\n[attention.compression]\nplugin = \"segment-mean\"\n";
  CHECK(found(compressed, 66).empty());
  CHECK(found(compressed, 64) ==
        Messages{"6: compression segment-mean needs sequences of a multiple of 3 tokens, and the longest has 64"});
}

TEST_CASE("batches of several sizes are not tuned on a stream, because dev is read in as many lanes as the batch has") {
  const std::string task = "[task]\nplugin = \"image\"\n[attention]\nplugin = \"linear\"\n";
  const auto found = [&](const std::string& grid, bool stream) {
    return messages(check_lanes(studies::load(task + grid), [=](const auto&) { return TaskShape{.stream = stream}; }));
  };
  const std::string tuned = "[grid.tune]\ntrain.batch = [8, 16]\n";
  CHECK(found(tuned, true) == Messages{"6: grid.tune compares train.batch = 16 and 8. The batch size is also the number of "
                                       "lanes in which a stream's dev is read. Each lane begins without context, so the "
                                       "metrics of the two cannot be compared; make train.batch an axis of [grid]"});
  CHECK(found(tuned, false).empty());
  CHECK(found("[grid]\ntrain.batch = [8, 16]\n[grid.tune]\ntrain.learning_rate = [1e-2, 1e-3]\n", true).empty());
}

TEST_CASE("padding, a causal task and holes are refused for an attention that does not promise them") {
  auto catalog = studies::catalog();
  find(catalog, "softmax")->capabilities.key_padding = true;
  find(catalog, "softmax")->capabilities.causal = true;
  const auto study = studies::load(kGrid);
  const auto found = [&](const TaskShape& asked) {
    return messages(check_asked(
        study, catalog, [&](const auto&) { return asked; }, declared));
  };
  CHECK(found({}).empty());
  REQUIRE(found({.padded = true}).size() == 1);
  CHECK(found({.padded = true})[0].starts_with("6: attention linear does not promise key_padding, and the task has sequences"));
  REQUIRE(found({.causal = true}).size() == 1);
  CHECK(found({.causal = true})[0].starts_with("6: attention linear does not promise causal attention"));
  CHECK(found({.holes = true}).size() == 2);
  const auto looking_back = studies::load(std::string(kGrid) + "[model]\ncausal = true\n");
  const auto chosen = [&] {
    return messages(check_asked(
        looking_back, catalog, [](const auto&) { return TaskShape(); }, declared));
  };
  const Messages only{"11: attention linear does not promise causal attention; leave model.causal false for it"};
  CHECK(chosen() == only);
  find(catalog, "softmax")->capabilities.bidirectional = false;
  CHECK(found({})[0].starts_with("5: attention softmax promises only causal attention"));
  CHECK(chosen() == only);
  CHECK(refuses_padding(study.trials.back(), catalog, declared));
}

TEST_CASE("rotary positions are refused for the part of a mixture that does not promise them") {
  auto catalog = studies::catalog();
  for (auto& plugin : catalog.plugins) plugin.promises_depend = true;  // else loading would refuse rotary
  find(catalog, "softmax")->capabilities.rotary = true;
  const auto found = [&](const std::string& positions) {
    const auto study =
        studies::load("[task]\nplugin = \"image\"\n[model]\npositions = \"" + positions +
                          "\"\n[attention]\nplugin = \"mixed\"\n"
                          "[[attention.parts]]\nplugin = \"softmax\"\n[[attention.parts]]\nplugin = \"linear\"\n",
                      {}, catalog);
    return messages(check_asked(
        study, catalog, [](const auto&) { return TaskShape{.length = 4}; }, declared));
  };
  CHECK(found("sinusoidal").empty());
  const auto refused = found("rotary");
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].starts_with("4: attention linear does not promise rotary positions; choose"));
}

TEST_CASE("dropout of attention weights is refused for the part of a mixture that does not promise it") {
  auto catalog = studies::catalog();
  for (auto& plugin : catalog.plugins) plugin.promises_depend = true;
  find(catalog, "softmax")->capabilities.weight_dropout = true;
  const auto found = [&](const std::string& dropout) {
    const auto study =
        studies::load("[task]\nplugin = \"image\"\n[model]\nattention_dropout = " + dropout +
                          "\n[attention]\nplugin = \"mixed\"\n"
                          "[[attention.parts]]\nplugin = \"softmax\"\n[[attention.parts]]\nplugin = \"linear\"\n",
                      {}, catalog);
    return messages(check_asked(
        study, catalog, [](const auto&) { return TaskShape{.length = 4}; }, declared));
  };
  CHECK(found("0").empty());
  const auto refused = found("0.1");
  REQUIRE(refused.size() == 1);
  CHECK(refused[0].starts_with("4: attention linear does not promise to drop attention weights"));
}

TEST_CASE("a promise that a plugin and its part both lack is reported only for the part") {
  auto catalog = studies::catalog();
  find(catalog, "compressed")->capabilities.length_multiple = 3;
  find(catalog, "segment-mean")->capabilities.length_multiple = 3;
  const auto study = studies::load(
      "[task]\nplugin = \"image\"\n[attention]\nplugin = \"compressed\"\n"
      "[attention.compression]\nplugin = \"segment-mean\"\n");
  const auto found = messages(check_asked(
      study, catalog, [](const auto&) { return TaskShape{.length = 4}; }, declared));
  REQUIRE(found.size() == 1);
  CHECK(found[0].starts_with("6: compression segment-mean"));
}

TEST_CASE("evaluation's share counts a forward pass as a third of a step") {
  using ablate::count_examples;
  // A typical first run: 30 steps of 32 examples, and ten evaluations of a whole split.
  const auto whole = count_examples({.steps = 30, .batch = 32}, 6000, 10000);
  CHECK(whole == ablate::ExampleCounts{.trained = 960, .evaluations = 10, .dev = 6000, .test = 10000});
  CHECK(count_examples({.steps = 30, .batch = 32, .test_last = true}, 6000, 10000).test == 20000);
  CHECK(whole.evaluation_share() == Approx(70000.0 / (70000 + 3 * 960)));
  // Windows over 10 and 20 segments of 16 positions: the first window evaluates 16 positions, each other window 3.
  const auto windows = count_examples({.steps = 30, .batch = 32, .length = 16, .stride = 3}, 10, 20);
  CHECK(windows.dev == 1 + 48);
  CHECK(windows.test == 1 + 102);
  CHECK(count_examples({.steps = 30, .batch = 2, .evaluate_batches = 2, .length = 16, .stride = 8}, 10, 20).dev == 7);
  CHECK(count_examples({.steps = 30, .batch = 32, .length = 16, .stride = 16}, 10, 20).dev == 10);
  CHECK(count_examples({.steps = 30, .batch = 32, .stride = 3}, 10, 20).dev == 10);  // not evaluated in windows
  const auto few = count_examples(
      {.steps = 100, .batch = 32, .evaluate_every = 40, .evaluate_batches = 4, .test_batches = 1000}, 6000, 10000);
  CHECK(few == ablate::ExampleCounts{.trained = 3200, .evaluations = 3, .dev = 128, .test = 10000});
  // Counts every step after which the training loop evaluates, and the last step.
  for (std::int64_t steps = 1; steps < 40; ++steps)
    for (std::int64_t every = 0; every < 45; ++every) {
      const auto interval = ablate::steps_between_evaluations(steps, every);
      std::int64_t count = 0;
      for (std::int64_t step = 1; step <= steps; ++step) count += step % interval == 0 || step == steps;
      CHECK(count_examples({.steps = steps, .evaluate_every = every}, 1, 1).evaluations == count);
      if (every == 0) CHECK(count <= ablate::kDefaultEvaluations);
    }
}
