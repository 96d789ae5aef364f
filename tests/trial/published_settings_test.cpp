// Options that published settings need: each does what its description says, and a default changes nothing.
#include <ATen/ATen.h>
#include <torch/optim/adamw.h>

#include "core/shared/schedules.h"
#include "core/trial/objectives/objective.h"
#include "core/trial/training/training.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Targets are symbols that occurred before. The number of targets varies between examples, and may be 0.
class Again final : public Majority {
 public:
  TaskInfo info() override {
    return {.fields = {{"token", 40}}, .length = 12, .classes = 40, .objective = Objective::kPositions, .causal = true};
  }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::mt19937_64 random(static_cast<std::uint64_t>(indices[i] * 3 + static_cast<int>(split)));
      const auto ids = batch.ids[0].subspan(i * 12, 12);
      for (std::size_t j = 0; j < 12; ++j) {
        ids[j] = static_cast<std::int64_t>(random() % 40);
        for (std::size_t k = 0; k < j; ++k)
          if (ids[k] == ids[j]) batch.targets[i * 12 + j] = ids[j];
      }
    }
  }
};

struct Trained {
  std::vector<Tensor> weights;
  std::vector<double> losses;
};

Trained trained(Task& task, const json& train, const json& model = json::object(), int steps = 4) {
  auto resolved = resolved_trial(train, plugin("softmax"));
  resolved["model"]["dropout"] = 0.0;
  resolved["model"].update(model);
  const TrialParts parts{trial_from_json(resolved), task, find_plugin};
  Training training(parts, at::kCPU);
  Trained result;
  for (int step = 0; step < steps; ++step) result.losses.push_back(training.step().value_or(-1));
  for (const auto& entry : training.model().parameters()) result.weights.push_back(entry.tensor);
  for (const auto& observed : training.observed())
    if (observed.info.unit == "ms") CHECK(observed.value > 0);
  return result;
}

double apart(const Trained& a, const Trained& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.weights.size(); ++i)
    most = std::max(most, (a.weights[i] - b.weights[i]).abs().max().item<double>());
  return most;
}

}  // namespace

TEST_CASE("batches with accumulated gradients equal one large batch", "[accumulate]") {
  Majority classes;
  Again positions;
  for (Task* task : {static_cast<Task*>(&classes), static_cast<Task*>(&positions)}) {
    // Adam divides by the gradient's size, which amplifies rounding if gradients are small.
    const json whole{{"batch", 12}, {"epsilon", 1e-3}}, parts{{"batch", 4}, {"accumulate", 3}, {"epsilon", 1e-3}};
    const auto one = trained(*task, whole), three = trained(*task, parts),
               small = trained(*task, {{"batch", 4}, {"epsilon", 1e-3}});
    CHECK(apart(one, three) < 1e-5);
    CHECK(apart(one, small) > 1e-3);
    for (std::size_t i = 0; i < one.losses.size(); ++i) CHECK(one.losses[i] == Approx(three.losses[i]).epsilon(1e-5));
  }
}

TEST_CASE("batches without targets are no error, with and without other batches in the step", "[accumulate]") {
  Again positions;
  const auto found = trained(positions, {{"batch", 1}, {"accumulate", 2}}, json::object(), 40);
  for (const double loss : found.losses) CHECK((loss == -1 || loss > 0));
}

TEST_CASE("beta1 cycles as in PyTorch's OneCycleLR: it falls while the learning rate rises") {
  const auto at = [](std::int64_t step) { return schedule_of("one-cycle").rate({step, 100, 10}).cycle; };
  CHECK(at(1) == 0);
  CHECK(at(5) == Approx(4.0 / 9));
  CHECK(at(10) == 1);
  CHECK(at(55) == Approx(0.5));
  CHECK(at(100) == Approx(0).margin(1e-12));
  auto own = json::object();
  for (const auto& parameter : own_of("schedule", kSchedules)) own[parameter.name] = parameter.default_value;
  for (const auto& schedule : kSchedules)
    for (std::int64_t step = 1; step <= 20; ++step) {
      const auto cycle = schedule.rate({step, 20, 5, own}).cycle;
      CHECK((cycle >= 0 && cycle <= 1 && (cycle == 0 || std::string(schedule.name) == "one-cycle")));
    }
  // A step equals a step of torch's AdamW with the beta1 that belongs to the cycle.
  const auto start = at::randn({5, 3});
  auto ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
  TrainSpec train{.optimizer = "adamw", .weight_decay = 0.1};
  train.own = {{"beta1", 0.95}, {"beta1_low", 0.85}, {"beta2", 0.99}, {"epsilon", 1e-6}};
  const auto optimizer = make_optimizer({{{"ours", ours, {}}}, precisions::float32({})}, train);
  torch::optim::AdamW reference({theirs}, torch::optim::AdamWOptions(0.01).eps(1e-6).weight_decay(0.1));
  for (const auto& [cycle, beta1] : {std::pair(0.0, 0.95), {0.5, 0.9}, {1.0, 0.85}, {0.5, 0.9}}) {
    static_cast<torch::optim::AdamWOptions&>(reference.param_groups()[0].options()).betas({beta1, 0.99});
    optimizer->zero_grad(), reference.zero_grad();
    ours.square().sum().backward(), theirs.square().sum().backward();
    optimizer->step(0.01, cycle), reference.step();
  }
  CHECK(at::allclose(ours, theirs, 1e-5, 1e-6));
}

TEST_CASE("training takes beta1 from its cycle") {
  Majority task;
  const json plain{{"beta1", 0.95}, {"epsilon", 1e-3}};
  auto cycling = plain;
  cycling["beta1_low"] = 0.5;
  CHECK(apart(trained(task, plain), trained(task, cycling)) > 1e-4);
  cycling["beta1_low"] = 0.95;
  CHECK(apart(trained(task, plain), trained(task, cycling)) == 0);
}

TEST_CASE("inner dropout is inside the feed-forward part, only in training") {
  Majority task;
  const json cold{{"learning_rate", 0.0}};
  const auto losses = [&](double inner, std::int64_t hidden) {
    return trained(task, cold, {{"inner_dropout", inner}, {"hidden", hidden}}).losses;
  };
  CHECK(losses(0.5, 16) != losses(0, 16));
  CHECK(losses(0.5, 0) == losses(0, 0));  // hidden = 0: no feed-forward part
  auto resolved = resolved_trial(cold, plugin("softmax"));
  const auto dev = [&](double inner) {
    resolved["model"]["inner_dropout"] = inner;
    const TrialParts parts{trial_from_json(resolved), task, find_plugin};
    return Training(parts, at::kCPU).evaluate(Split::kDev).loss;
  };
  CHECK(dev(0.5) == dev(0));
}

TEST_CASE("an attention may have any width, independent of the width between layers") {
  Majority task;
  for (const auto& [id, width] : {std::pair{"softmax", 6}, {"linear", 40}}) {
    INFO(id);
    auto resolved = resolved_trial({{"steps", 3}}, plugin(id));
    resolved["model"]["attention_width"] = width;
    const TrialParts parts{trial_from_json(resolved), task, find_plugin};
    Training training(parts, at::kCPU);
    CHECK(training.step() > 0);
    bool seen = false;
    for (const auto& entry : training.model().parameters())
      if (entry.name.starts_with("layer1_attention") && entry.tensor.dim() == 2) {
        CHECK((entry.tensor.size(0) == width || entry.tensor.size(1) == width));
        seen = true;
      }
    CHECK(seen);
  }
}

TEST_CASE("the classifier of positions also has an inner layer if the study sets one") {
  Again task;
  const auto linear = trained(task, json::object()), mlp = trained(task, json::object(), {{"classifier", "mlp"}}),
             tied = trained(task, json::object(), {{"classifier", "mlp"}, {"tied_output", true}});
  CHECK(mlp.weights.size() == linear.weights.size() + 2);
  CHECK(tied.weights.size() == linear.weights.size() + 1);  // a bias instead of weight and bias
}

TEST_CASE("the classifier's inner layer has the width of the study") {
  Majority task;
  const auto width = [&](const json& model) {
    auto resolved = resolved_trial(json::object(), plugin("softmax"));
    resolved["model"]["classifier"] = "mlp";
    resolved["model"].update(model);
    const TrialParts parts{trial_from_json(resolved), task, find_plugin};
    const Training training(parts, at::kCPU);
    std::vector<std::int64_t> sizes;
    for (const auto& entry : training.model().parameters())
      if (entry.name.starts_with("classifier") && entry.tensor.dim() == 2)
        sizes.insert(sizes.end(), {entry.tensor.size(0), entry.tensor.size(1)});
    return sizes;
  };
  const auto d_model = resolved_trial(json::object(), plugin("softmax"))["model"]["d_model"].get<std::int64_t>();
  const auto classes = task.info().classes;
  CHECK(width(json::object()) == std::vector<std::int64_t>{d_model, d_model, classes, d_model});
  CHECK(width({{"classifier_hidden", 24}}) == std::vector<std::int64_t>{24, d_model, classes, 24});
}
