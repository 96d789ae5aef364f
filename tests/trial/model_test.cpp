// The model around an attention: padding has no effect, and pairs and parts follow their formulas.
#include "core/trial/model/model.h"

#include <ATen/ATen.h>

#include "core/trial/objectives/objective.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

constexpr std::int64_t kLength = 9;

std::shared_ptr<Model> model(const json& changes, const json& attention, TaskInfo info = {}, std::uint64_t seed = 1,
                             const FindPlugin& find = find_plugin) {
  if (info.fields.empty()) info = {.fields = {{"token", 12}}, .length = kLength, .classes = 3};
  json all{{"d_model", 8}, {"hidden", 16}, {"dropout", 0.0}};
  all.update(changes);
  const auto objective = make_objective(info);
  auto made = std::make_shared<Model>(
      model_options(info, model_from_json(section(model_parameters(), all))), plugins_from_json(attention), false, find,
      [&](const auto& options, const auto& table, const auto& random) { return objective->make_head(options, table, random); },
      make_generator(seed));
  move_to(*made, at::kCPU, at::kDouble);
  return made;
}

at::Tensor logits(const Model& made, const at::Tensor& ids, const at::Tensor& mask) {
  const Batch batch{.size = ids.size(0), .fields = {ids}, .mask = mask};
  return made.forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
}

at::Tensor parameter(const Model& made, const std::string& name) {
  for (const auto& entry : made.parameters())
    if (entry.name == name) return entry.tensor;
  FAIL("no parameter " << name);
  return {};
}

/// Adds a tensor to its input. Layers share this tensor, whose number of rows is the value of the parameter `heads`.
class Sharing final : public Attention {
 public:
  explicit Sharing(const AttentionContext& context)
      : shared_(context.parts.shared("E", [&] {
          return empty({context.parameters.integer("heads"), context.d_model}).normal_(0, 1, context.generator);
        })) {
    all.push_back(shared_);
  }

  static inline std::vector<at::Tensor> all;  ///< shared tensors of the layers, in order

 private:
  AttentionOutput do_forward(const AttentionInput& input) override { return {.output = input.queries + shared_.sum(0)}; }

  at::Tensor shared_;
};

/// Returns softmax's descriptor with Sharing as its attention.
const Descriptor& find_sharing(Kind kind, const std::string& id) {
  static const auto sharing = [] {
    auto descriptor = find_plugin(Kind::kAttention, "softmax");
    descriptor.id = "sharing";
    descriptor.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
      return std::make_shared<Sharing>(context);
    };
    return descriptor;
  }();
  return id == "sharing" ? sharing : find_plugin(kind, id);
}

json sharing(std::int64_t rows) {
  return complete_section(find_sharing(Kind::kAttention, "sharing"), {{"heads", rows}}, find_sharing);
}
json both(const json& one, const json& other) {
  return complete_section(find_plugin(Kind::kAttention, "mixed"), {{"parts", {one, other}}}, find_sharing);
}

}  // namespace

TEST_CASE("a padded sequence has the same logits as the sequence", "[mask]") {
  for (const char* pooling : {"mean", "cls", "last"})
    for (const char* attention : {"linear", "softmax"})
      for (const char* positions : {"learned", "sinusoidal", "rotary", "none"}) {
        INFO(pooling << " " << attention << " " << positions);
        const auto made = model({{"pooling", pooling}, {"positions", positions}}, plugin(attention));
        const auto ids = at::randint(1, 12, {4, kLength}, at::kLong);
        for (const std::int64_t length : {1, 5, 8}) {
          auto padded = ids.clone();
          padded.slice(1, length).zero_();
          const auto expected = logits(*made, ids.slice(1, 0, length), {});
          CHECK(at::allclose(logits(*made, padded, padded.ne(0)), expected, 1e-10, 1e-12));
          // The mask decides, not the id: other ids under the mask change nothing.
          CHECK(at::allclose(logits(*made, ids, padded.ne(0)), expected, 1e-10, 1e-12));
          CHECK_FALSE(at::allclose(logits(*made, ids, {}), expected, 1e-6, 1e-6));
        }
      }
}

TEST_CASE("every pooling that a study may name reads only present positions", "[mask]") {
  for (const auto& pooling : kPoolings) {
    INFO(pooling.name);
    const auto made = model({{"pooling", pooling.name}}, plugin("softmax"));
    const auto ids = at::randint(1, 12, {4, kLength}, at::kLong);
    const auto mask = at::arange(kLength).lt(5).expand({4, kLength});
    const auto found = logits(*made, ids, mask);
    CHECK(found.sizes() == at::IntArrayRef({4, 3}));
    CHECK(found.equal(logits(*made, ids.masked_fill(mask.logical_not(), 7), mask)));
    for (std::int64_t place = 0; place < 5; ++place) {
      auto changed = ids.clone();
      changed.select(1, place).fill_(0);
      CHECK_FALSE(at::allclose(logits(*made, changed, mask), found, 1e-6, 1e-6));
    }
  }
}

TEST_CASE("the published mean is the masked sum divided by the padded length") {
  const auto all = model({{"pooling", "mean-all"}, {"layers", 0}}, plugin("softmax")),
             mean = model({{"pooling", "mean"}, {"layers", 0}}, plugin("softmax"));
  const auto ids = at::randint(1, 12, {2, kLength}, at::kLong);
  const auto mask = at::arange(kLength).lt(3).expand({2, kLength});
  const auto bias = parameter(*all, "classifier.outer.bias");
  const auto expected = (logits(*mean, ids, mask) - bias) * (3.0 / kLength) + bias;
  CHECK(at::allclose(logits(*all, ids, mask), expected, 1e-10, 1e-12));
}

TEST_CASE("one seed gives equal initial weights outside the attention, for every attention") {
  const auto a = model(json::object(), plugin("linear")), b = model(json::object(), plugin("softmax")),
             c = model(json::object(), plugin("linear"), {}, 2);
  for (const char* name : {"tokens.weight", "positions", "layer2.feed_forward.expand.weight", "classifier.outer.weight"}) {
    CHECK(at::equal(parameter(*a, name), parameter(*b, name)));
    CHECK_FALSE(at::equal(parameter(*a, name), parameter(*c, name)));
  }
}

TEST_CASE("every parameter of the model is used, with any parts") {
  const TaskInfo pair{.fields = {{"token", 12}, {"amount", 0, 2}}, .sequences = 2, .length = kLength, .classes = 3};
  const TaskInfo next{
      .fields = {{"token", 12}}, .length = kLength, .classes = 12, .objective = Objective::kPositions, .causal = true};
  for (const auto& [changes, info] : std::vector<std::pair<json, TaskInfo>>{{{{"norm", "post"}}, pair},
                                                                            {{{"classifier", "mlp"}, {"hidden", 0}}, pair},
                                                                            {{{"tied_output", true}}, next},
                                                                            {{{"layers", 0}}, next}}) {
    INFO(changes.dump());
    const auto made = model(changes, plugin("softmax"), info);
    Batch batch{.size = 2, .fields = {at::randint(0, 12, {2 * info.sequences, kLength}, at::kLong)}};
    if (info.fields.size() == 2) batch.fields.push_back(at::randn({2 * info.sequences, kLength, 2}));
    if (info.objective == Objective::kPositions) batch.asked = at::tensor({1, 7, 11}, at::kLong);
    const auto output = made->forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
    CHECK(output.sizes() == at::IntArrayRef({info.objective == Objective::kPositions ? 3 : 2, info.classes}));
    output.square().sum().backward();
    for (const auto& entry : made->parameters()) {
      INFO(entry.name);
      CHECK(entry.tensor.grad().defined());
    }
  }
}

TEST_CASE("with model.causal a position sees no later position, and a class token in front is refused") {
  const TaskInfo each{.fields = {{"token", 12}}, .length = kLength, .classes = 12, .objective = Objective::kPositions};
  const auto ids = at::randint(0, 11, {1, kLength}, at::kLong), other = ids.clone();
  other[0][5] = 11;
  for (const bool causal : {false, true}) {
    const auto made = model({{"causal", causal}}, plugin("softmax"), each);
    const auto found = [&](const at::Tensor& tokens) {
      Batch batch{.size = 1, .fields = {tokens}};
      batch.asked = at::arange(kLength);
      return made->forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
    };
    const auto off = (found(other) - found(ids)).abs().amax(1);
    CHECK((off.narrow(0, 0, 5) == 0).all().item().toBool() == causal);
    CHECK((off.narrow(0, 5, kLength - 5) > 0).all().item().toBool());
  }
  CHECK_THROWS_WITH(model({{"causal", true}, {"pooling", "cls"}}, plugin("softmax")),
                    "model.causal needs another pooling than cls: the class token is first and sees only itself");
}

TEST_CASE("a pair is read as [a, b, a * b, a - b]") {
  const TaskInfo pair{.fields = {{"token", 12}}, .sequences = 2, .length = kLength, .classes = 3};
  const auto made = model({{"layers", 0}, {"positions", "none"}}, plugin("softmax"), pair);
  const auto ids = at::randint(1, 12, {4, kLength}, at::kLong);  // two pairs: rows 0 and 2, rows 1 and 3
  const auto x = at::layer_norm(at::embedding(parameter(*made, "tokens.weight"), ids), {8}).mean(1);
  const auto a = x.narrow(0, 0, 2), b = x.narrow(0, 2, 2);
  const auto expected = at::linear(at::cat({a, b, a * b, a - b}, 1), parameter(*made, "classifier.outer.weight"),
                                   parameter(*made, "classifier.outer.bias"));
  const Batch batch{.size = 2, .fields = {ids}};
  const auto found = made->forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
  CHECK(at::allclose(found, expected, 1e-10, 1e-12));
  const Batch swapped{.size = 2, .fields = {at::cat({ids.narrow(0, 2, 2), ids.narrow(0, 0, 2)})}};
  CHECK_FALSE(at::allclose(made->forward(swapped, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole(),
                           expected, 1e-6, 1e-6));
}

TEST_CASE("both documents of a pair count, each under its own mask") {
  const TaskInfo pair{.fields = {{"token", 12}}, .sequences = 2, .length = kLength, .classes = 3};
  const auto made = model(json::object(), plugin("softmax"), pair);
  const auto found = [&](const at::Tensor& ids, const at::Tensor& mask) {
    const Batch batch{.size = 1, .fields = {ids}, .mask = mask};
    return made->forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
  };
  const auto ids = at::randint(0, 6, {2, kLength}, at::kLong);
  const auto mask = at::arange(kLength).unsqueeze(0).lt(at::tensor({4, 7}, at::kLong).unsqueeze(1));
  const auto expected = found(ids, mask);
  for (std::int64_t document = 0; document < 2; ++document)
    for (std::int64_t place = 0; place < kLength; ++place) {
      INFO("document " << document << ", place " << place);
      auto changed = ids.clone();
      changed[document][place] += 6;
      const bool same = at::allclose(found(changed, mask), expected, 1e-10, 1e-12);
      CHECK(same == !mask[document][place].item<bool>());
    }
}

TEST_CASE("layers of a model use the attentions of a list in turn") {
  const auto made = model({{"layers", 4}}, json::array({plugin("linear", {{"heads", 1}}), plugin("softmax")}));
  const auto one = model({{"layers", 4}}, plugin("linear", {{"heads", 1}}));
  CHECK(made->parameters().size() == one->parameters().size());
  const auto ids = at::randint(1, 12, {2, kLength}, at::kLong);
  CHECK_FALSE(at::allclose(logits(*made, ids, {}), logits(*one, ids, {}), 1e-6, 1e-6));
}

TEST_CASE("layers share a tensor if they have the same entry of a list and the same part of a mixture") {
  const auto names = [](const Model& made) {
    std::vector<std::string> all;
    for (const auto& entry : made.parameters())
      if (entry.name.starts_with("shared_")) all.push_back(entry.name);
    return all;
  };
  const auto made = [](const json& attention) {
    Sharing::all.clear();
    return model({{"layers", 4}}, attention, {}, 1, find_sharing);
  };
  const auto same = [](std::size_t a, std::size_t b) { return Sharing::all.at(a).is_same(Sharing::all.at(b)); };
  using Names = std::vector<std::string>;

  CHECK(names(*made(sharing(1))) == Names{"shared_E"});
  CHECK((same(0, 1) && same(0, 2) && same(0, 3)));

  const auto list = made(json::array({sharing(1), sharing(3)}));
  CHECK(names(*list) == Names{"shared_0_E", "shared_1_E"});
  CHECK((same(0, 2) && same(1, 3)));
  CHECK_FALSE(same(0, 1));
  CHECK(Sharing::all[1].size(0) == 3);
  // The tensor is a parameter of the model and gets gradients from both layers that share it.
  const auto ids = at::randint(1, 12, {2, kLength}, at::kLong);
  logits(*list, ids, {}).square().sum().backward();
  CHECK(parameter(*list, "shared_0_E").is_same(Sharing::all[0]));
  CHECK(parameter(*list, "shared_0_E").grad().abs().sum().item<double>() > 0);

  CHECK(names(*made(both(sharing(1), sharing(2)))) == Names{"shared_parts_0_E", "shared_parts_1_E"});
  CHECK((same(0, 2) && same(1, 3)));  // two parts in each layer
  CHECK_FALSE(same(0, 1));

  CHECK(names(*made(json::array({both(sharing(1), sharing(1)), sharing(1)}))) ==
        Names{"shared_0_parts_0_E", "shared_0_parts_1_E", "shared_1_E"});
}
