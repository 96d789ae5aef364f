// Which trials a proof repeats, and which trials it is a proof of.
#include "core/host/proof/coverage.h"

#include <algorithm>

#include "core/shared/sections.h"
#include "tests/support/catch.h"

using ablate::ChangedCode;
using ablate::Coverage;
using ablate::Identity;
using nlohmann::json;

namespace {

using Indices = std::set<std::size_t>;
using Words = std::vector<std::string>;

/// A mixture of a linear attention, whose code changed, and another.
Identity trial(json linear, json others = json::object()) {
  Identity made{{{"attention.plugin", "mixed"}, {"attention.parts.0.plugin", "linear"}, {"attention.parts.1.plugin", "local"}},
                {{"plugins", {{"attention", "m"}, {"attention.parts.0", "old"}, {"attention.parts.1", "l"}}}}};
  for (const auto& [name, value] : linear.items()) made.settings["attention.parts.0." + name] = value;
  made.settings.update(others);
  return made;
}

const ChangedCode kLinear{{"old"}};

}  // namespace

TEST_CASE("few trials are repeated that have every value, the first of those that add the most") {
  const std::vector<Identity> trials{trial({{"heads", 1}, {"features", "relu"}}), trial({{"heads", 2}, {"features", "relu"}}),
                                     trial({{"heads", 2}, {"features", "elu"}}), trial({{"heads", 1}, {"features", "elu"}}),
                                     trial({{"heads", 4}, {"features", "elu"}})};
  CHECK(Coverage(kLinear, trials, 1).picked() == Indices{0, 2, 4});
  CHECK(Coverage(kLinear, trials, 4).picked() == Indices{0, 1, 2, 4});
  CHECK(Coverage(kLinear, trials, 9).picked() == Indices{0, 1, 2, 3, 4});
}

TEST_CASE("a default is a value, and values of other plugins are none of the changed one's") {
  const std::vector<Identity> trials{trial({}, {{"attention.parts.1.window", 4}}), trial({}, {{"attention.parts.1.window", 8}}),
                                     trial({{"heads", 2}}), trial({}, {{"seed", 2}, {"train.clip", 3}})};
  const Coverage coverage(kLinear, trials, 1);
  CHECK(coverage.picked() == Indices{0, 2});
  CHECK(coverage.missing(trial({{"heads", 2}}, {{"attention.parts.1.window", 16}})).empty());
  CHECK(coverage.missing(trial({{"heads", 3}, {"depth", 1}})) ==
        Words{"attention.parts.0.depth = 1", "attention.parts.0.heads = 3"});
  const Coverage two(kLinear, {trial({{"heads", 2}})}, 1);
  CHECK(two.missing(trial({})) == Words{"attention.parts.0.heads = the default"});
  auto known = trial({});
  known.values = {{"attention.parts.0.heads", 3}};
  CHECK(two.missing(known) == Words{"attention.parts.0.heads = 3"});
  known.values["attention.parts.0.heads"] = 2;
  CHECK(two.missing(known).empty());
}

TEST_CASE("a plugin is its code; where it stands is a value, too") {
  const auto alone = [](int heads, const std::string& path = "attention") {
    return Identity{{{path + ".plugin", "linear"}, {path + ".heads", heads}}, {{"plugins", {{path, "old"}}}}};
  };
  const Coverage coverage(kLinear, {trial({{"heads", 2}}), alone(3)}, 1);
  CHECK(coverage.missing(alone(2)).empty());
  CHECK(coverage.missing(alone(4)) == Words{"attention.heads = 4"});
  CHECK(coverage.missing(alone(2, "attention.1")) == Words{"attention.1 as a layer of its own"});
  CHECK(Coverage(kLinear, {alone(2, "attention.1")}, 1).missing(alone(2, "attention.1")).empty());
  CHECK(Coverage(kLinear, {alone(2, "attention.1")}, 1).missing(alone(2, "attention.2")) ==
        Words{"attention.2 as a layer of its own"});
  CHECK(Coverage(kLinear, {trial({{"heads", 2}})}, 1).missing(alone(2)) == Words{"attention in every layer"});
  CHECK(Coverage(kLinear, {alone(2)}, 1).missing(trial({{"heads", 2}})) ==
        Words{"attention.parts.0 in mixed (code m)", "attention.parts.1.plugin = \"local\""});
}

namespace {

/// A compression beneath an attention.
Identity beneath(const std::string& id, const std::string& code, json settings = json::object()) {
  Identity made{{{"attention.plugin", id}, {"attention.compression.plugin", "rbf"}},
                {{"plugins", {{"attention", code}, {"attention.compression", "old"}}}}};
  made.settings.update(settings);
  return made;
}

}  // namespace

TEST_CASE("what a compression is a part of is a value of it, with its parameters and its code") {
  const Coverage coverage(kLinear, {beneath("compressed", "c", {{"attention.rate", 4}}), beneath("infinity", "i")}, 1);
  CHECK(coverage.picked() == Indices{0, 1});
  CHECK(coverage.missing(beneath("compressed", "c", {{"attention.rate", 4}})).empty());
  CHECK(coverage.missing(beneath("compressed", "d", {{"attention.rate", 4}})) ==
        Words{"attention.compression in compressed (code d)"});
  CHECK(coverage.missing(beneath("compressed", "c", {{"attention.rate", 8}})) == Words{"attention.rate = 8"});
  // infinity has no rate: that it sets none says nothing of compressed without one.
  CHECK(coverage.missing(beneath("compressed", "c")) == Words{"attention.rate = the default"});
  const Coverage one(kLinear, {beneath("compressed", "c")}, 1);
  CHECK(one.missing(beneath("infinity", "i")) == Words{"attention.compression in infinity (code i)"});
}

TEST_CASE("what is a part of a changed attention is a value of it, with its parameters and its code") {
  const ChangedCode compressed{{"c"}};
  const auto at = [](int width, const std::string& code) {
    auto made = beneath("compressed", "c", {{"attention.compression.width", width}});
    made.basis["plugins"]["attention.compression"] = code;
    return made;
  };
  const Coverage coverage(compressed, {at(1, "r"), at(2, "r")}, 1);
  CHECK(coverage.picked() == Indices{0, 1});
  CHECK(coverage.missing(at(2, "r")).empty());
  CHECK(coverage.missing(at(3, "r")) == Words{"attention.compression.width = 3"});
  CHECK(coverage.missing(at(2, "s")) == Words{"the code of rbf (attention.compression)"});
}

TEST_CASE("what chooses among a plugin's code beside its own section is a value as well") {
  const auto both = trial({{"heads", 2}});
  const Coverage coverage(kLinear, {both}, 1);
  CHECK(coverage.missing(trial({{"heads", 2}}, {{"model.causal", true}})) == Words{"model.causal = true"});
  CHECK(coverage.missing(trial({{"heads", 2}}, {{"train.dtype", "bfloat16"}, {"train.learning_rate", 0.5}})) ==
        Words{"train.dtype = \"bfloat16\""});
  for (const auto* name : {"model.d_model", "model.attention_width", "model.layers", "model.pooling", "model.segment",
                           "train.batch", "train.steps", "train.threads", "train.device"})
    CHECK(coverage.missing(trial({{"heads", 2}}, {{name, 7}})) == Words{std::string(name) + " = 7"});
  const Coverage causal(kLinear, {both, trial({{"heads", 2}}, {{"model.causal", true}})}, 1);
  CHECK(causal.picked() == Indices{0, 1});
  CHECK(Coverage(kLinear, {trial({}, {{"model.causal", true}})}, 1).missing(trial({})) == Words{"model.causal = the default"});
}

TEST_CASE("which plugin is a parameter of a changed one is a value of its parameter") {
  const ChangedCode mixed{{"m"}};
  const auto other = [](const std::string& id) { return trial({{"heads", 3}}, {{"attention.parts.1.plugin", id}}); };
  const std::vector<Identity> trials{other("local"), other("softmax"), trial({{"heads", 3}}, {{"seed", 2}})};
  CHECK(Coverage(mixed, trials, 1).picked() == Indices{0, 1});
  CHECK(Coverage(mixed, trials, 1).missing(other("performer")) == Words{"attention.parts.1.plugin = \"performer\""});
}

namespace {

/// An attention on a task; the task's code and data may be others.
Identity on(const std::string& task, json settings = json::object(), const std::string& data = "d",
            const std::string& code = "t") {
  Identity made{{{"task.plugin", task}, {"attention.plugin", "linear"}},
                {{"plugins", {{"attention", "old"}, {"task", code}}}, {"data", data}, {"torch", "2.11.0"}, {"runtime", 4}}};
  if (!settings.empty()) made.settings.update(settings);
  return made;
}

}  // namespace

TEST_CASE("which task it is, its parameters and its data are values of an attention") {
  const Coverage coverage(kLinear, {on("copy", {{"task.length", 8}}), on("recall")}, 1);
  CHECK(coverage.picked() == Indices{0, 1});
  CHECK(coverage.missing(on("copy", {{"task.length", 8}, {"seed", 9}})).empty());
  CHECK(coverage.missing(on("copy", {{"task.length", 9}})) == Words{"task.length = 9"});
  CHECK(coverage.missing(on("copy")) == Words{"task.length = the default"});
  CHECK(coverage.missing(on("sort")) == Words{"task.plugin = \"sort\""});
  CHECK(coverage.missing(on("recall", {}, "0123456789abcdef")) == Words{"data = 0123456789ab"});
  CHECK(coverage.missing(on("recall", {}, "d", "another")).empty());  // which gave the same data
  auto elsewhere = on("recall");
  elsewhere.basis["torch"] = "2.10.0";
  CHECK(coverage.missing(elsewhere) == Words{"torch = 2.10.0"});
}

TEST_CASE("a task can tell its own parameters and what is read of it, and nothing of the model") {
  const ChangedCode task{{"t"}};
  const std::vector<Identity> trials{on("copy"), on("copy", {{"model.layers", 3}, {"attention.heads", 2}}),
                                     on("copy", {{"train.batch", 3}}), on("copy", {{"task.length", 3}})};
  const Coverage coverage(task, trials, 1);
  CHECK(coverage.picked() == Indices{0, 2, 3});
  CHECK(coverage.missing(on("copy", {{"attention.plugin", "local"}, {"model.causal", true}})).empty());
  CHECK(coverage.missing(on("copy", {{"train.test_batches", 4}, {"task.length", 4}})) ==
        Words{"task.length = 4", "train.test_batches = 4"});
}

TEST_CASE("of another runtime all settings but the seed are one value together") {
  const ChangedCode runtime{{}, true};
  // recall with its whole split, and image without a limit, say nothing of image with one.
  const std::vector<Identity> trials{on("recall", {{"train.test_batches", 8}, {"seed", 1}}),
                                     on("recall", {{"train.test_batches", 8}, {"seed", 2}}), on("image", {}, "i"),
                                     on("recall")};
  const Coverage coverage(runtime, trials, 1);
  CHECK(coverage.picked() == Indices{0, 2, 3});
  CHECK(coverage.missing(on("recall", {{"train.test_batches", 8}, {"seed", 7}})).empty());
  CHECK(coverage.missing(on("image", {{"train.test_batches", 8}}, "i")) == Words{"this combination of settings"});
  CHECK(coverage.missing(on("image", {}, "j")) == Words{"this combination of settings"});
  auto before = on("image", {}, "i");
  before.basis["plugins"]["attention"] = "older";
  CHECK(coverage.missing(before) == Words{"this combination of settings"});
  // With a plugin that has changed beside it, too.
  const Coverage both({{"old"}, true}, trials, 1);
  CHECK(both.picked() == Indices{0, 2, 3});
  CHECK(both.missing(on("image", {{"train.test_batches", 8}}, "i")) == Words{"this combination of settings"});
}

TEST_CASE("what says that nothing but numbers differs is a parameter of [train]") {
  for (const auto& name : ablate::numbers_alone()) {
    INFO(name);
    const auto known = ablate::train_parameters();
    CHECK(std::any_of(known.begin(), known.end(), [&](const auto& parameter) { return parameter.name == name; }));
  }
}
