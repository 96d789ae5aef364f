// Different attentions in layers: the attention of each layer, its state, and its metrics.
#include "core/trial/objectives/objective.h"
#include "tests/plugins/module.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;
using nlohmann::json;

namespace {

std::shared_ptr<Model> model(const json& attention, bool carries, std::int64_t layers = 2, bool causal = true) {
  ModelOptions options{.task = {.fields = {{.name = "token", .vocabulary = 12}},
                                .length = 10,
                                .classes = 12,
                                .objective = Objective::kPositions,
                                .causal = causal},
                       .layers = layers,
                       .d_model = 16};
  const auto objective = make_objective(options.task);
  return in_double(std::make_shared<Model>(
      options, plugins_from_json(attention), carries, find_plugin,
      [&](const ModelOptions& given, const Tensor& table, const Generator& generator) {
        return objective->make_head(given, table, generator);
      },
      make_generator(1)));
}

Batch batch() {
  return {
      .size = 2, .fields = {randint(12, {2, 10}, make_generator(2))}, .asked = integers(std::vector<std::int64_t>{3, 9, 19})};
}

ModelOutput run(const Model& model, const ModelState& state = {}, bool measure = false) {
  return model.forward(batch(), state, make_generator(3), measure);
}

std::vector<std::size_t> sizes(const ModelState& state) {
  std::vector<std::size_t> all;
  for (const auto& layer : state) all.push_back(layer.size());
  return all;
}

const json kLinear = section("linear"), kSoftmax = section("softmax");

}  // namespace

TEST_CASE("layers use the attentions of a list in turn") {
  // Linear attention carries its sums. Softmax attention has no state.
  const auto linear_below = model({kLinear, kSoftmax}, true, 4);
  CHECK(sizes(linear_below->initial_state(2)) == std::vector<std::size_t>{1, 0, 1, 0});
  CHECK(sizes(model({kSoftmax, kLinear}, true)->initial_state(2)) == std::vector<std::size_t>{0, 1});
  CHECK(linear_below->stateful());
  CHECK_FALSE(model({kSoftmax, kSoftmax}, true)->stateful());
  CHECK(carries_state(plugins_from_json({kSoftmax, kLinear}), find_plugin));
  CHECK_FALSE(carries_state(plugins_from_json({kSoftmax, kSoftmax}), find_plugin));

  // The states of the lowest layer are equal in both models, bit by bit. The states of layer 3 differ, because layer 2
  // differs.
  const auto all_linear = model(kLinear, true, 4);
  const auto mixed = run(*linear_below, linear_below->initial_state(2)), plain = run(*all_linear, all_linear->initial_state(2));
  CHECK(sizes(mixed.state) == std::vector<std::size_t>{1, 0, 1, 0});
  CHECK(distance(mixed.state[0][0], plain.state[0][0]) == 0);
  CHECK(distance(mixed.state[2][0], plain.state[2][0]) > 1e-6);
}

TEST_CASE("a list of equal attentions equals that attention") {
  const auto listed = run(*model({kSoftmax, kSoftmax}, false)).logits.whole(),
             one = run(*model(kSoftmax, false)).logits.whole();
  CHECK(distance(listed, one) == 0);
  CHECK(distance(run(*model({kLinear, kSoftmax}, false)).logits.whole(), one) > 1e-6);
  CHECK(distance(run(*model({kSoftmax, kLinear}, false)).logits.whole(),
                 run(*model({kLinear, kSoftmax}, false)).logits.whole()) > 1e-6);
}

TEST_CASE("parameters of an entry belong only to its layers") {
  auto wide = kSoftmax;
  wide["heads"] = 4;
  const auto logits = [](const json& attention) { return run(*model(attention, false)).logits.whole(); };
  CHECK(distance(logits({kLinear, wide}), logits({kLinear, kSoftmax})) > 1e-6);
  wide["heads"] = 3;
  CHECK_THROWS_WITH(model({kLinear, wide}, false), Catch::Matchers::Contains("heads = 3 does not divide d_model = 16"));
}

TEST_CASE("metrics of layers are named by their plugin and averaged over its layers") {
  const auto adamra = section("adamra", {{"compression", {{"plugin", "segment-mean"}}}});
  // The shares of a layer's heads sum to 100 %. The sum of their means over the layers that choose heads is 100 %, too.
  for (const auto& attention : {json{adamra, kSoftmax}, json{kSoftmax, adamra}, json{adamra, adamra}, adamra}) {
    double shares = 0;
    for (const auto& metric : run(*model(attention, false, 2, false), {}, true).metrics) {
      CHECK(metric.name.starts_with("adamra/"));
      if (metric.name.starts_with("adamra/head_share_") && metric.name.find("_quarter_") == std::string::npos)
        shares += metric.value;
    }
    CHECK(shares == Approx(100));
  }
}
