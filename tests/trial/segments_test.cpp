// Examples read in segments. With states, outputs equal the outputs of one pass. Gradients end at the cuts of model.cut.
#include <ATen/ATen.h>

#include "core/trial/objectives/objective.h"
#include "core/util/error.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

constexpr std::int64_t kLength = 12, kSegment = 4;

const TaskInfo kNext{
    .fields = {{"token", 30}}, .length = kLength, .classes = 30, .objective = Objective::kPositions, .causal = true};
const TaskInfo kClassOf{.fields = {{"token", 30}}, .length = kLength, .classes = 3, .causal = true};

ModelOptions options_of(const json& changes, const TaskInfo& info) {
  json all{{"d_model", 8}, {"hidden", 16}, {"dropout", 0.0}, {"layers", 2}};
  all.update(changes);
  return model_options(info, model_from_json(section(model_parameters(), all)));
}

/// Makes a model with one seed: the weights do not depend on the segments.
std::shared_ptr<Model> model(const json& changes, const char* attention, const TaskInfo& info) {
  const auto options = options_of(changes, info);
  const auto objective = make_objective(info);
  auto made = std::make_shared<Model>(
      options, plugins_from_json(plugin(attention)), options.hands_on(), find_plugin,
      [&](const auto& given, const auto& table, const auto& random) { return objective->make_head(given, table, random); },
      make_generator(1));
  move_to(*made, at::kCPU, at::kDouble);
  return made;
}

Tensor logits(const Model& made, const Tensor& ids, const Tensor& mask = {}) {
  Batch batch{.size = ids.size(0), .fields = {ids}, .mask = mask};
  batch.asked = at::arange(ids.numel());
  return made.forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
}

std::vector<Tensor> gradients(const Model& made, const Tensor& loss) {
  std::vector<Tensor> all;
  for (const auto& entry : made.parameters()) entry.tensor.mutable_grad().reset();
  loss.backward();
  for (const auto& entry : made.parameters())
    all.push_back(entry.tensor.grad().defined() ? entry.tensor.grad().clone() : at::zeros_like(entry.tensor));
  return all;
}

bool near(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& x, const auto& y) { return at::allclose(x, y, 1e-9, 1e-11); });
}

/// Returns the logits of the last segment, from logits [2 * kLength, classes].
Tensor last(const Tensor& all) { return all.view({2, kLength, -1}).slice(1, kLength - kSegment); }

Tensor tokens() { return at::arange(2 * kLength, at::kLong).view({2, kLength}); }  // each token occurs once

const json kNowhere{{"segment", kSegment}, {"cut", "nowhere"}}, kBetween{{"segment", kSegment}},
    kBeforeLast{{"segment", kSegment}, {"cut", "before-last"}};

}  // namespace

TEST_CASE("with a recurrent attention, segments equal the whole, in values and gradients") {
  for (const auto* positions : {"learned", "rotary", "none"})
    for (const auto& info : {kNext, kClassOf}) {
      INFO(positions << " " << info.classes);
      auto in_segments = kNowhere;
      in_segments["positions"] = positions;
      const auto whole = model({{"positions", positions}}, "linear", info), parts = model(in_segments, "linear", info);
      const auto mask = at::arange(kLength).lt(at::tensor({12, 7}).unsqueeze(1));
      const auto expected = logits(*whole, tokens(), mask), found = logits(*parts, tokens(), mask);
      const auto asked = info.classes == 30 ? mask.flatten().unsqueeze(1) : at::ones({2, 1}, at::kBool);
      CHECK(at::allclose(found.masked_fill(~asked, 0), expected.masked_fill(~asked, 0), 1e-9, 1e-11));
      CHECK(near(gradients(*parts, found.masked_fill(~asked, 0).square().sum()),
                 gradients(*whole, expected.masked_fill(~asked, 0).square().sum())));
    }
}

TEST_CASE("without a state, an attention reads only its segment, and the model's head reads all segments") {
  auto changed = tokens();
  changed[0][0] = 29;
  for (const auto* attention : {"softmax", "linear", "transformer-xl"}) {
    INFO(attention);
    const json plain{{"segment", kSegment}, {"positions", std::string(attention) == "transformer-xl" ? "none" : "learned"}};
    const auto made = model(plain, attention, kNext);
    const bool same = at::equal(last(logits(*made, tokens())), last(logits(*made, changed)));
    CHECK(same == (std::string(attention) == "softmax"));
    const auto pooled = model(plain, attention, kClassOf);
    CHECK_FALSE(at::allclose(logits(*pooled, tokens()), logits(*pooled, changed)));
  }
}

TEST_CASE("gradients end at the cuts, and outputs do not change") {
  const auto nowhere = model(kNowhere, "linear", kNext), between = model(kBetween, "linear", kNext),
             before_last = model(kBeforeLast, "linear", kNext);
  const auto through = logits(*nowhere, tokens()), cut = logits(*between, tokens()), late = logits(*before_last, tokens());
  CHECK((at::equal(through, cut) && at::equal(cut, late)));
  // If only the last segment has a loss, embeddings of earlier tokens get gradients only through the states.
  const auto early = [&](const Model& made, const Tensor& all) {
    const auto table = gradients(made, last(all).square().sum()).at(0);  // the first is "positions"
    REQUIRE(made.parameters().at(0).name == "positions");
    return table.slice(0, 0, kLength - kSegment).abs().max().item<double>();
  };
  CHECK(early(*nowhere, logits(*nowhere, tokens())) > 0);
  CHECK(early(*between, logits(*between, tokens())) == 0);
  CHECK(early(*before_last, logits(*before_last, tokens())) == 0);
  CHECK(near(gradients(*between, last(logits(*between, tokens())).square().sum()),
             gradients(*before_last, last(logits(*before_last, tokens())).square().sum())));
  // If all segments have a loss, an earlier segment also gets gradients from its own loss, unless its pass records no graph.
  const auto whole_loss = [&](const Model& made) {
    return gradients(made, logits(made, tokens()).square().sum()).at(0).slice(0, 0, kSegment).abs().max().item<double>();
  };
  CHECK(whole_loss(*between) > 0);
  CHECK(whole_loss(*before_last) == 0);
}

TEST_CASE("each document of a pair carries its own state") {
  auto pair = kClassOf;
  pair.sequences = 2;
  const auto whole = model(json::object(), "linear", pair), parts = model(kNowhere, "linear", pair);
  const Batch batch{.size = 1, .fields = {tokens()}};
  const auto found = [&](const Model& made) {
    return made.forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
  };
  CHECK(at::allclose(found(*parts), found(*whole), 1e-9, 1e-11));
}

TEST_CASE("impossible segments are refused, with the correct settings") {
  const auto why = [](const json& changes, const TaskInfo& info) -> std::string {
    try {
      options_of(changes, info);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  auto stream = kNext;
  stream.sampling = Sampling::kStream;
  CHECK(why({{"segment", 5}}, kNext) == "model.segment = 5 does not divide the task's length of 12");
  CHECK(why({{"segment", 4}}, stream).starts_with("model.segment needs a task of examples"));
  CHECK(why({{"segment", 4}, {"pooling", "cls"}}, kClassOf).starts_with("model.segment needs another pooling"));
  CHECK(why({{"segment", 4}, {"pooling", "cls"}}, kNext) == "");  // nothing is pooled
}

namespace {

/// The class is the first of twelve symbols.
class First final : public Majority {
 public:
  TaskInfo info() override { return {.fields = {{"token", 3}}, .length = 12, .classes = 2, .causal = true}; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::mt19937_64 random(static_cast<std::uint64_t>(indices[i] * 3 + static_cast<int>(split)));
      for (std::size_t j = 0; j < 12; ++j) batch.ids[0][i * 12 + j] = static_cast<std::int64_t>(1 + random() % 2);
      batch.targets[i] = batch.ids[0][i * 12] - 1;
    }
  }
};

}  // namespace

TEST_CASE("states carried through the segments of an example are learned") {
  const auto accuracy = [](const char* attention) {
    First task;
    auto resolved = resolved_trial({{"steps", 150}, {"schedule", "constant"}}, plugin(attention));
    resolved["model"].update({{"segment", 6}, {"pooling", "last"}, {"cut", "nowhere"}, {"dropout", 0.0}});
    return run_trial({trial_from_json(resolved), task, find_plugin}, [](const Progress&) {}).values.at("test/accuracy");
  };
  CHECK(accuracy("linear") > 90);
  CHECK(accuracy("softmax") < 70);  // its last segment cannot read the first symbol
}
