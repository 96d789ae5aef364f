// A training stops and resumes as if uninterrupted, and a wrong copy is detected.
#include "core/trial/training/training.h"

#include <ATen/Context.h>

#include "core/trial/training/precision.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// Counts upwards modulo 8, in texts of 40 positions each.
class Counting final : public Task {
 public:
  TaskInfo info() override {
    return {.fields = {{"token", 8}},
            .length = 8,
            .classes = 8,
            .objective = Objective::kPositions,
            .sampling = Sampling::kStream,
            .causal = true,
            .unit = "byte"};
  }
  void load() override {}
  std::string digest() const override { return "counting"; }
  std::int64_t size(Split) const override { return 400; }
  std::string describe(Split, std::int64_t) const override { return ""; }
  void read(Split, std::span<const std::int64_t> indices, BatchView batch) const override {
    for (std::size_t i = 0; i < indices.size(); ++i)
      for (std::int64_t j = 0; j < batch.length; ++j) {
        const auto place = indices[i] + j, at = static_cast<std::int64_t>(i) * batch.length + j;
        if (j == 0) batch.starts[i] = place % 40 == 0 ? 1 : 0;
        batch.present[0][static_cast<std::size_t>(at)] = place < 400 ? 1 : 0;
        if (place >= 400) continue;
        batch.ids[0][static_cast<std::size_t>(at)] = place % 8;
        batch.targets[static_cast<std::size_t>(at)] = (place + 1) % 8;
      }
  }
};

std::vector<Tensor> weights(const Training& training) {
  std::vector<Tensor> all;
  for (const auto& entry : training.model().parameters()) all.push_back(entry.tensor.clone());
  return all;
}

bool equal(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) { return x.equal(y); });
}

/// Takes three steps, makes a copy, and takes two more steps in both.
void check_copy(Task& task, const json& attention) {
  const auto resolved = resolved_trial({{"batch", 4}}, attention);
  const TrialParts parts{trial_from_json(resolved), task, find_plugin};
  Training first(parts, at::kCPU);
  for (int step = 0; step < 3; ++step) first.step();
  first.evaluate_dev();
  const auto saved = first.save();
  const auto before = weights(first);
  std::vector<double> losses;
  for (int step = 0; step < 2; ++step) losses.push_back(*first.step());
  Training second(parts, at::kCPU);
  CHECK_FALSE(equal(weights(second), before));
  second.load(saved);
  CHECK(equal(weights(second), before));
  CHECK(second.steps_done() == 3);
  CHECK(second.best_step() == 3);
  CHECK(second.best().metrics.front().value == first.best().metrics.front().value);
  for (const double loss : losses) CHECK(*second.step() == loss);
  CHECK(equal(weights(second), weights(first)));
  CHECK(second.evaluate(Split::kTest).loss == first.evaluate(Split::kTest).loss);
  second.restore_best();
  CHECK(equal(weights(second), before));
}

}  // namespace

TEST_CASE("a saved training resumes in another object as in the same object, bit by bit") {
  Majority examples;
  check_copy(examples, plugin("softmax"));
  Counting stream;
  check_copy(stream, plugin("linear"));  // with the states of its lanes
}

TEST_CASE("without the generator's state, a copy would differ") {
  Majority task;
  const auto resolved = resolved_trial({{"batch", 4}}, plugin("softmax"));
  const TrialParts parts{trial_from_json(resolved), task, find_plugin};
  Training first(parts, at::kCPU);
  first.step();
  const auto saved = first.save();
  Training second(parts, at::kCPU);
  second.load(saved);
  at::manual_seed(99);  // dropout now draws other numbers
  const auto other = *second.step();
  first.load(saved);
  CHECK(*first.step() != other);
}

TEST_CASE("padded batches are refused only if padding is not promised") {
  struct Holes : Majority {
    TaskInfo info() override {
      auto info = Majority::info();
      info.holes = true;
      return info;
    }
  } task;
  auto softmax = find_plugin(Kind::kAttention, "softmax");
  softmax.promises = nullptr, softmax.capabilities.holes = false;
  const TrialParts parts{trial_from_json(resolved_trial({{"batch", 4}}, plugin("softmax"))), task,
                         [&](Kind, const std::string&) -> const Descriptor& { return softmax; }};
  CHECK(Training(parts, at::kCPU).step());
  softmax.capabilities.key_padding = false;
  CHECK_THROWS_WITH(Training(parts, at::kCPU).step(), Catch::Contains("does not promise key_padding"));
}

TEST_CASE("a stream's next token is learned, and scored in bits per byte") {
  for (const char* attention : {"softmax", "linear"}) {
    const auto ran = run({{"batch", 4}, {"steps", 80}}, plugin(attention), 1, Counting());
    REQUIRE(ran.failed == "");
    CHECK(ran.result.main_metric == "test/bits_per_byte");
    CHECK(ran.result.values.at("test/bits_per_byte") < 0.5);
    CHECK(ran.metrics().at("test/bits_per_byte").direction == "min");
  }
}

TEST_CASE("a study trains in the type that it names, and an unknown type is refused") {
  CHECK(precision_of("float32", {}).type == at::kFloat);
  CHECK(precision_of("bfloat16", {}).type == at::kBFloat16);
  CHECK(precision_of("bfloat16", {}).stored == at::kFloat);
  CHECK(precision_of("mixed", {}).type == at::kFloat);
  CHECK(precision_of("mixed", {}).mixed);
  CHECK_THROWS_WITH(precision_of("float16", {}), "\"float16\" is none of float32|bfloat16|mixed");
  const auto trained = [](const char* dtype) { return run({{"steps", 2}, {"dtype", dtype}}, plugin("softmax")).failed; };
  CHECK(trained("bfloat16") == "");
  CHECK(trained("float16") == "dtype of [train] is \"float16\", expected one of float32, bfloat16, mixed");
  CHECK(trained("double") == "dtype of [train] is \"double\", expected one of float32, bfloat16, mixed");
}
