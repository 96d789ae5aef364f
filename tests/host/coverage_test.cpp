// Which trials a proof repeats, and which trials it is a proof of.
#include "core/host/scheduler/coverage.h"

#include "tests/support/catch.h"

using ablate::ChangedCode;
using ablate::Coverage;
using ablate::Identity;
using nlohmann::json;

namespace {

using Places = std::set<std::size_t>;
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
  CHECK(Coverage(kLinear, trials, 1).chosen() == Places{0, 2, 4});
  CHECK(Coverage(kLinear, trials, 4).chosen() == Places{0, 1, 2, 4});
  CHECK(Coverage(kLinear, trials, 9).chosen() == Places{0, 1, 2, 3, 4});
}

TEST_CASE("a default is a value, and values of other plugins are none of the changed one's") {
  const std::vector<Identity> trials{trial({}, {{"attention.parts.1.window", 4}}), trial({}, {{"attention.parts.1.window", 8}}),
                                     trial({{"heads", 2}}), trial({}, {{"seed", 2}, {"model.layers", 3}})};
  const Coverage coverage(kLinear, trials, 1);
  CHECK(coverage.chosen() == Places{0, 2});
  CHECK(coverage.missing(trial({{"heads", 2}}, {{"attention.parts.1.window", 16}})).empty());
  CHECK(coverage.missing(trial({{"heads", 3}, {"depth", 1}})) ==
        Words{"attention.parts.0.depth = 1", "attention.parts.0.heads = 3"});
  const Coverage two(kLinear, {trial({{"heads", 2}})}, 1);
  CHECK(two.missing(trial({})) == Words{"attention.parts.0.heads = the default"});
}

TEST_CASE("a plugin is its code, wherever it stands") {
  const Coverage coverage(kLinear, {trial({{"heads", 2}})}, 1);
  const auto alone = [](int heads) {
    return Identity{{{"attention.plugin", "linear"}, {"attention.heads", heads}}, {{"plugins", {{"attention", "old"}}}}};
  };
  CHECK(coverage.missing(alone(2)).empty());
  CHECK(coverage.missing(alone(4)) == Words{"attention.heads = 4"});
}

TEST_CASE("what chooses among a plugin's code beside its own section is a value as well") {
  const auto both = trial({{"heads", 2}});
  const Coverage coverage(kLinear, {both}, 1);
  CHECK(coverage.missing(trial({{"heads", 2}}, {{"model.causal", true}})) == Words{"model.causal = true"});
  CHECK(coverage.missing(trial({{"heads", 2}}, {{"train.dtype", "bfloat16"}, {"train.steps", 7}})) ==
        Words{"train.dtype = \"bfloat16\""});
  const Coverage causal(kLinear, {both, trial({{"heads", 2}}, {{"model.causal", true}})}, 1);
  CHECK(causal.chosen() == Places{0, 1});
  CHECK(Coverage(kLinear, {trial({}, {{"model.causal", true}})}, 1).missing(trial({})) == Words{"model.causal = the default"});
}

TEST_CASE("which plugin is a parameter of a changed one is a value of its parameter") {
  const ChangedCode mixed{{"m"}};
  const auto other = [](const std::string& id) { return trial({{"heads", 3}}, {{"attention.parts.1.plugin", id}}); };
  const std::vector<Identity> trials{other("local"), other("softmax"), trial({{"heads", 2}})};
  CHECK(Coverage(mixed, trials, 1).chosen() == Places{0, 1});
  CHECK(Coverage(mixed, trials, 1).missing(other("performer")) == Words{"attention.parts.1.plugin = \"performer\""});
}

TEST_CASE("of another runtime every setting but the seed is a parameter") {
  const ChangedCode runtime{{}, true};
  const std::vector<Identity> trials{trial({}, {{"seed", 1}}), trial({}, {{"seed", 2}}), trial({}, {{"model.layers", 3}})};
  const Coverage coverage(runtime, trials, 1);
  CHECK(coverage.chosen() == Places{0, 2});
  CHECK(coverage.missing(trial({}, {{"seed", 7}})).empty());
  CHECK(coverage.missing(trial({}, {{"train.steps", 7}})) == Words{"train.steps = 7"});
}
