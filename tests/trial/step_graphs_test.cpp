// Recorded and replayed steps give the same bits as plain steps, and differences are detected.
#include "core/trial/training/step_graphs.h"

#include <ATen/ATen.h>

#include "core/trial/training/training.h"
#include "tests/trial/majority.h"
#include "tests/trial/recording_double.h"
#include "tests/trial/sum_work.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Sets model.dropout to 0, because its draws are on the host and cannot be recorded. The draws of attention dropout can be
/// recorded, because torch makes them.
json recordable_trial(const json& train, const json& attention, const json& model = json::object()) {
  auto resolved = resolved_trial(train, attention);
  resolved["train"]["kernels"] = "reference";
  resolved["model"]["dropout"] = 0.0;
  resolved["model"].update(model);
  return resolved;
}

struct Trained {
  std::vector<double> losses;
  std::vector<Tensor> weights;
  std::int64_t replayed = 0;
  std::string why;
};

/// Trains `steps` steps, with an evaluation after step 10. Without a recorder, all steps are plain.
Trained trained(const json& resolved, std::unique_ptr<WorkRecorder> recorder, int steps = 20) {
  Majority task;
  const TrialParts parts{trial_from_json(resolved), task, find_plugin};
  Training training(parts, at::kCPU);
  training.replay_steps(std::move(recorder), "not asked for");
  Trained result;
  for (int step = 0; step < steps; ++step) {
    result.losses.push_back(training.step().value());
    if (step == 9) training.evaluate_dev();
  }
  for (const auto& entry : training.model().parameters()) result.weights.push_back(entry.tensor.detach().clone());
  result.replayed = training.steps_replayed();
  result.why = training.why_not_replayed();
  return result;
}

void check_same(const Trained& a, const Trained& b) {
  CHECK((a.losses == b.losses));
  for (std::size_t i = 0; i < a.weights.size(); ++i) CHECK(a.weights[i].equal(b.weights[i]));
}

const json kDropped{{"attention_dropout", 0.2}};

}  // namespace

TEST_CASE("replayed steps give the same bits as plain steps") {
  struct Case {
    json train;
    const char* attention;
    json model;
  };
  for (const auto& [train, attention, model] :
       {Case{json::object(), "linear", json::object()}, Case{{{"clip", 0.5}, {"decayed", "matrices"}}, "synthesizer", kDropped},
        Case{{{"accumulate", 2}, {"batch", 6}}, "linear", json::object()},
        Case{{{"optimizer", "sgd"}}, "linear", json::object()}, Case{{{"dtype", "bfloat16"}}, "linear", json::object()}}) {
    INFO(attention << " " << train.dump());
    const auto resolved = recordable_trial(train, plugin(attention), model);
    const auto plain = trained(resolved, nullptr), replayed = trained(resolved, recording_double());
    CHECK(replayed.why == "");
    CHECK(replayed.replayed == 20 - StepGraphs::kPlainFirst - 1);
    CHECK(plain.replayed == 0);
    CHECK(plain.why == "not asked for");
    check_same(plain, replayed);
  }
}

TEST_CASE("a wrong replay is detected, and all steps are plain") {
  const auto resolved = recordable_trial(json::object(), plugin("synthesizer"), kDropped);
  const auto plain = trained(resolved, nullptr);
  for (const auto planted : {Planted::kOwnInputs, Planted::kStaleRate, Planted::kSameDraws}) {
    INFO(static_cast<int>(planted));
    const auto noticed = trained(resolved, recording_double(planted));
    CHECK(noticed.why == "replay 2 of a recorded step gives other numbers than the plain step");
    CHECK(noticed.replayed == 1);
    check_same(plain, noticed);
  }
  // The fault begins after replays whose results are in use.
  CHECK_THROWS_WITH(trained(resolved, recording_double(Planted::kLateSameDraws)),
                    Catch::Matchers::StartsWith("replay 5 of a recorded step gives other numbers") &&
                        Catch::Matchers::EndsWith("leave train.graphs = true out"));
}

TEST_CASE("steps that cannot be recorded are plain, with a reason") {
  const auto why = [](const json& resolved) {
    const auto plain = trained(resolved, nullptr, 8), tried = trained(resolved, recording_double(), 8);
    check_same(plain, tried);
    return tried.why;
  };
  CHECK(why(recordable_trial(json::object(), plugin("adaptive-span"), {{"causal", true}})) ==
        "aten::_local_scalar_dense waits for the device, which cannot be recorded");
  // Our operations draw on the host. The recording does not fill the memory of these numbers, which may contain NaN.
  CHECK_THAT(why(recordable_trial(json::object(), plugin("linear"), {{"dropout", 0.1}})),
             Catch::Matchers::Equals("replay 1 of a recorded step gives other numbers than the plain step") ||
                 (Catch::Matchers::StartsWith("loss is ") && Catch::Matchers::EndsWith(" at step 4")));
  CHECK(why(recordable_trial({{"beta1_low", 0.8}}, plugin("linear"))) == "train.beta1_low changes beta1 from step to step");
}

TEST_CASE("a saved training contains its number of uncompared replays, and a resumed training continues to count") {
  const auto resolved = recordable_trial(json::object(), plugin("linear"));
  Majority task;
  const TrialParts parts{trial_from_json(resolved), task, find_plugin};
  Training training(parts, at::kCPU);
  training.replay_steps(recording_double());
  std::int64_t most = 0;
  for (int step = 0; step < 18; ++step) {
    training.step();
    most = std::max(most, training.steps_uncompared());
    Training next(parts, at::kCPU);
    next.replay_steps(recording_double());
    next.load(training.save());
    CHECK(next.steps_uncompared() == training.steps_uncompared());
    CHECK(next.steps_replayed() == training.steps_replayed());
  }
  CHECK(most > 0);
}

TEST_CASE("the CPU has no graphs") {
  CHECK_THROWS_WITH(open_recorder(at::kCPU), "steps can be replayed only on a CUDA device, and this device is the CPU");
  const auto ran = run({{"graphs", true}, {"steps", 4}}, plugin("linear"));
  CHECK(ran.failed == "");
  CHECK(ran.result.values.at("train/replayed_steps") == 0);
}

TEST_CASE("the learning rate of recorded steps is a float32 on the device, and changes") {
  const auto weights = [](bool on_device) {
    auto weight = at::ones({3}).requires_grad_();
    TrainSpec train{.optimizer = "sgd"};
    train.own = {{"momentum", 0.0}};
    const std::vector<Module::Entry> parameters{{"weight", weight, {}}};
    const auto optimizer = make_optimizer({parameters, precisions::float32({})}, train);
    if (on_device) optimizer->keep_rate_on(at::kCPU);
    for (const double rate : {0.5, 0.25}) {
      optimizer->zero_grad();
      weight.sum().backward();
      optimizer->step(rate);
    }
    return weight.detach().clone();
  };
  CHECK(weights(true).equal(at::full({3}, 0.25)));
  CHECK(weights(true).equal(weights(false)));
}

TEST_CASE("every tensor of a batch is copied to the memory that the recording reads") {
  const auto batch = [](std::int64_t first) {
    Batch made{.size = 2};
    made.fields = {at::full({2, 3}, first), at::full({2, 3, 1}, static_cast<double>(first), at::kFloat)};
    made.mask = at::full({2, 3}, first % 2 == 0, at::kBool);
    made.position = at::full({2}, first);
    made.asked = at::full({4}, first);
    made.targets = at::full({4}, first);
    made.starts = {static_cast<std::uint8_t>(first), 0};
    return made;
  };
  const auto places = [](const Batch& of) {
    std::vector<const void*> all;
    for (const auto& tensor : {of.fields[0], of.fields[1], of.mask, of.position, of.asked, of.targets})
      all.push_back(tensor.const_data_ptr());
    return all;
  };
  const auto first = batch(1), next = batch(2);
  StaticBatch fixed(first);
  const auto before = places(fixed.batch());
  CHECK((before != places(first)));
  fixed.fill(next);
  CHECK((places(fixed.batch()) == before));
  const auto& filled = fixed.batch();
  CHECK((filled.fields[0].equal(next.fields[0]) && filled.fields[1].equal(next.fields[1])));
  CHECK((filled.mask.equal(next.mask) && filled.position.equal(next.position)));
  CHECK((filled.asked.equal(next.asked) && filled.targets.equal(next.targets) && filled.starts == next.starts));

  CHECK(StaticBatch::shape_of(first) == StaticBatch::shape_of(next));
  auto other = batch(2);
  other.mask.reset();
  CHECK(StaticBatch::shape_of(other) != StaticBatch::shape_of(next));
  other = batch(2);
  other.targets = at::full({5}, 2);
  CHECK(StaticBatch::shape_of(other) != StaticBatch::shape_of(next));
}

TEST_CASE("steps are recorded by shape, for a few shapes") {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  double expected = 0;
  for (int round = 0; round < 8; ++round)
    for (std::int64_t count = 1; count <= 6; ++count) {
      graphs.step({numbers(count, round + 1)});
      expected += static_cast<double>(count * (round + 1));
    }
  CHECK(sum.total.item<double>() == expected);
  // Each of four shapes has 3 plain steps, 1 recorded step and 4 replays.
  CHECK(graphs.replayed() == 4 * static_cast<std::int64_t>(StepGraphs::kMost));
  CHECK(graphs.why() == "");
}

TEST_CASE("if a tensor of the model is replaced, steps are recorded anew, a limited number of times") {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  double expected = 0;
  for (int step = 0; step < 40; ++step) {
    graphs.step({numbers(2, step)});
    expected += 2 * step;
    CHECK(sum.total.item<double>() == expected);
    if (step % 7 == 6) sum.total = sum.total.clone();
  }
  CHECK(graphs.replayed() > 0);
  CHECK(graphs.why() == "tensors of the model are replaced by others again and again");
}

TEST_CASE("a batch without targets is not recorded") {
  Sum sum;
  StepGraphs graphs(recording_double(), sum.work());
  auto none = numbers(2, 1);
  none.targets = at::zeros({0}, at::kLong);
  for (int step = 0; step < 8; ++step) graphs.step({none});
  CHECK(graphs.replayed() == 0);
  CHECK(sum.calls == 8);
}
