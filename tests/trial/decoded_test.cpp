// All targets decoded from one vector: the outputs depend only on this vector.
#include <ATen/ATen.h>

#include "core/trial/objectives/objective.h"
#include "core/util/error.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

constexpr std::int64_t kLength = 6, kIds = 5;

const TaskInfo kInfo{.fields = {{"token", kIds}}, .length = kLength, .classes = kIds, .objective = Objective::kDecoded};

std::shared_ptr<Model> model(json changes) {
  changes.update({{"d_model", 8}, {"dropout", 0.0}});
  const auto objective = make_objective(kInfo);
  auto made = std::make_shared<Model>(
      model_options(kInfo, model_from_json(section(model_parameters(), changes))), plugins_from_json(plugin("softmax")), false,
      find_plugin,
      [&](const auto& given, const auto& table, const auto& random) { return objective->make_head(given, table, random); },
      make_generator(1));
  move_to(*made, at::kCPU, at::kDouble);
  return made;
}

Tensor logits(const Model& made, const Tensor& ids, const Tensor& asked) {
  const Batch batch{.size = ids.size(0), .fields = {ids}, .asked = asked};
  return made.forward(batch, {}, at::globalContext().defaultGenerator(at::kCPU), false).logits.whole();
}

/// The targets are the first three of the example's four symbols.
class Echo final : public Majority {
 public:
  TaskInfo info() override {
    return {.fields = {{"token", 4}},
            .length = 4,
            .classes = 4,
            .objective = Objective::kDecoded,
            .slices = {"first"},
            .metrics = {{"first_right", "%", "max", "whether the first one is right"}}};
  }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::mt19937_64 random(static_cast<std::uint64_t>(indices[i] * 3 + static_cast<int>(split)));
      for (std::size_t j = 0; j < 4; ++j)
        batch.ids[0][i * 4 + j] = batch.targets[i * 4 + j] = static_cast<std::int64_t>(random() % 4);
      batch.slices[i] = batch.ids[0][i * 4];
      batch.targets[i * 4 + 3] = -1;  // the last symbol is no target
    }
  }
  void judge(Split split, std::int64_t index, std::span<const std::int64_t> answers, std::span<double> values) const override {
    std::mt19937_64 random(static_cast<std::uint64_t>(index * 3 + static_cast<int>(split)));
    CHECK((answers.size() == 4 && answers[3] == -1));
    values[0] = static_cast<std::int64_t>(random() % 4) == answers[0] ? 100 : 0;
  }
};

}  // namespace

TEST_CASE("every pooling decodes all targets of an example from the same vector") {
  const auto ids = at::randint(0, kIds, {2, kLength}, at::kLong);
  const auto asked = at::tensor({1, 5, 6, 8}, at::kLong);
  for (const auto& pooling : kPoolings) {
    INFO(pooling.name);
    const auto made = model({{"pooling", pooling.name}, {"classifier", "mlp"}});
    const auto found = logits(*made, ids, asked);
    CHECK(found.sizes() == at::IntArrayRef({4, kIds}));
    CHECK(at::allclose(logits(*made, ids, at::arange(2 * kLength)).index_select(0, asked), found, 1e-10, 1e-12));
    CHECK_FALSE(at::allclose(found[0], found[1], 1e-6, 1e-6));
  }
  // The mean of embeddings does not depend on the order of the ids, so the outputs must not depend on this order, either.
  const auto mean = model({{"layers", 0}, {"positions", "none"}, {"classifier", "mlp"}});
  CHECK(at::allclose(logits(*mean, ids, asked), logits(*mean, ids.flip(1), asked), 1e-10, 1e-12));
}

TEST_CASE("a linear classifier is refused, because a position would add the same logits in every example") {
  CHECK_THROWS_AS(model({{"classifier", "linear"}}), Error);
}

TEST_CASE("a trial learns to store a sequence in one vector, and the task judges the answers") {
  Echo task;
  auto resolved = resolved_trial({{"steps", 300}, {"schedule", "constant"}}, plugin("softmax"));
  resolved["model"].update({{"d_model", 32}, {"hidden", 64}, {"classifier", "mlp"}, {"dropout", 0.0}});
  const auto result = run_trial({trial_from_json(resolved), task, find_plugin}, [](const Progress&) {});
  const auto& values = result.values;
  CHECK(result.main_metric == "test/accuracy");
  CHECK(values.at("test/accuracy") > 50);  // chance is 25; depending on the processor, 300 steps learn two or three targets
  CHECK(values.contains("test/sequence_accuracy"));
  // The first symbol is one of the three targets. The mean of the slices, weighted by their sizes, is the mean of all examples.
  CHECK(values.at("test/first_right") > 40);  // chance is 25
  double sum = 0, examples = 0;
  for (std::int64_t first = 0; first < 4; ++first) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < task.size(Split::kTest); ++i)
      count += static_cast<std::int64_t>(std::mt19937_64(static_cast<std::uint64_t>(i * 3 + 2))() % 4) == first ? 1 : 0;
    sum += static_cast<double>(count) * values.at("test/first_right@first=" + std::to_string(first));
    examples += static_cast<double>(count);
  }
  CHECK(sum / examples == Approx(values.at("test/first_right")));
}
