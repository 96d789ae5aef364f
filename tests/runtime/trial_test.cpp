// A trial in this process: bits repeat, promises are asked for, faults have reasons.
#include "core/runtime/trial.h"

#include <random>

#include "core/config/sections.h"
#include "core/registry/library.h"
#include "core/runtime/batches.h"
#include "core/runtime/optimizer.h"
#include "core/runtime/tensor_memory.h"
#include "core/util/error.h"
#include "tests/support/catch.h"

using namespace ablate;
using nlohmann::json;

namespace {

/// Class = which of two symbols is the more frequent; padded to different lengths.
class Majority final : public Task {
 public:
  explicit Majority(std::int64_t bad_id = 0) : bad_id_(bad_id) {}
  TaskInfo info() override { return {3, 12, 2}; }
  void load() override {}
  std::string digest() const override { return "majority"; }
  std::int64_t size(Split split) const override { return split == Split::kTrain ? 400 : 100; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::mt19937_64 random(static_cast<std::uint64_t>(indices[i] * 3 + static_cast<int>(split)));
      const auto length = 5 + 2 * (random() % 4);
      std::size_t ones = 0;
      for (std::size_t j = 0; j < 12; ++j) {
        const auto one = random() % 2;
        batch.ids[i * 12 + j] = j < length ? static_cast<std::int64_t>(1 + one) : 0;
        if (j < length) ones += one;
      }
      if (bad_id_ != 0) batch.ids[i * 12] = bad_id_;
      batch.labels[i] = ones > length / 2 ? 1 : 0;
    }
  }

 private:
  std::int64_t bad_id_;
};

json section(std::span<const ParameterInfo> parameters, const json& changes) {
  json result = json::object();
  for (const auto& parameter : parameters) result[parameter.name] = parameter.default_value;
  result.update(changes);
  return result;
}

TrialResult run(const json& train, std::uint64_t seed = 1, const char* attention = "linear", std::int64_t bad_id = 0) {
  const json resolved{
      {"model", section(model_parameters(), {{"d_model", 16}, {"hidden", 16}, {"dropout", 0.1}})},
      {"train", section(train_parameters(), {{"steps", 60}, {"batch", 20}, {"learning_rate", 0.01}, {"warmup", 5}})},
      {"seed", seed}};
  auto changed = resolved;
  changed["train"].update(train);
  Majority task(bad_id);
  const TrialParts parts{
      changed, task, with_defaults(load_library(std::string(ABLATE_BUILD_DIR "/lib/ablate/plugins/") + attention + ".so")), {}};
  return run_trial(parts, [](const Progress&) {});
}

std::string failure(const json& train, std::int64_t bad_id = 0) {
  try {
    run(train, 1, "linear", bad_id);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a trial learns, and says everything it measured with a definition") {
  count_tensor_memory();
  const auto result = run(json::object());
  CHECK(result.values.at("dev/accuracy") > 75);
  CHECK(result.values.at("test/accuracy") > 70);
  CHECK(result.values.at("memory/peak_tensor") > 0);
  CHECK(result.values.at("model/parameters") > 1000);
  for (const auto& [name, value] : result.values) {
    INFO(name);
    CHECK(std::any_of(result.metrics.begin(), result.metrics.end(), [&](const auto& metric) { return metric.name == name; }));
  }
  CHECK(result.curve.size() == 60 + 2 * 10);
}

TEST_CASE("same key and seed, same bits; another seed, others") {
  const auto a = run(json::object()), b = run(json::object()), c = run(json::object(), 2);
  for (const char* name : {"dev/accuracy", "dev/loss", "test/loss", "train/loss", "memory/peak_tensor"})
    CHECK(a.values.at(name) == b.values.at(name));
  CHECK(a.values.at("train/loss") != c.values.at("train/loss"));
  REQUIRE(a.curve.size() == b.curve.size());
  for (std::size_t i = 0; i < a.curve.size(); ++i) CHECK(a.curve[i].value == b.curve[i].value);
}

TEST_CASE("on shuffled labels there is nothing to learn") {
  CHECK(run(json::object()).values.at("train/loss") < 0.5);
  // ln 2 = 0.693 is the loss of a fair guess between two classes.
  CHECK(run({{"shuffle_labels", true}}).values.at("train/loss") > 0.65);
}

TEST_CASE("half precision learns as float32 does, in half the activations") {
  const auto whole = run(json::object(), 1, "softmax"), half = run({{"dtype", "bfloat16"}}, 1, "softmax");
  CHECK(half.values.at("test/accuracy") > 70);
  CHECK(half.values.at("train/loss") != whole.values.at("train/loss"));
  CHECK(half.values.at("train/loss") == Approx(whole.values.at("train/loss")).margin(0.1));
}

TEST_CASE("steps smaller than the digits of bfloat16 add up") {
  // Below 1 bfloat16 steps by 1/256; under a constant gradient AdamW steps by its learning rate.
  auto weight = torch::ones({4}, torch::kBFloat16).requires_grad_();
  AdamW optimizer({weight}, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0});
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    weight.sum().backward();
    optimizer.step(1e-3);
  }
  CHECK(weight[0].item<double>() == Approx(0.98).margin(1.0 / 256));
}

TEST_CASE("a step's times are parts of each other") {
  const auto values = run(json::object()).values;
  CHECK(values.at("train/forward_time") > 0);
  CHECK(values.at("train/forward_backward_time") > values.at("train/forward_time"));
  CHECK(values.at("train/step_time") > values.at("train/forward_backward_time"));
}

TEST_CASE("faults come with their reason") {
  CHECK(failure({{"learning_rate", 1e30}, {"schedule", "constant"}, {"warmup", 0}}).find("at step") != std::string::npos);
  CHECK(failure({{"device", "cuda:7"}}).find("train.device") != std::string::npos);
  CHECK(failure(json::object(), 3).find("the id 3, and its vocabulary is 3") != std::string::npos);
  CHECK(failure(json::object(), -1).find("the id -1") != std::string::npos);
}

TEST_CASE("the order of training covers every example once an epoch and depends on the seed alone") {
  Shuffle order(10, 5), same(10, 5), other(10, 6);
  std::vector<std::int64_t> epoch;
  for (const std::int64_t batch : {3, 3, 4}) {
    const auto next = order.next(batch);
    epoch.insert(epoch.end(), next.begin(), next.end());
  }
  CHECK(epoch == same.next(10));
  CHECK(epoch != other.next(10));
  CHECK(order.next(10) != epoch);
  std::sort(epoch.begin(), epoch.end());
  for (std::size_t i = 0; i < epoch.size(); ++i) CHECK(epoch[i] == static_cast<std::int64_t>(i));
}
