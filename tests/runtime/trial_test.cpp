// A trial in this process: bits repeat, promises are asked for, faults have reasons.
#include "core/runtime/trial.h"

#include <fmt/format.h>

#include <random>

#include "ablate/headwise.h"
#include "core/config/sections.h"
#include "core/registry/library.h"
#include "core/runtime/batches.h"
#include "core/runtime/optimizer.h"
#include "core/runtime/step_times.h"
#include "core/runtime/tensor_memory.h"
#include "core/util/error.h"
#include "tests/support/catch.h"

using namespace ablate;
using nlohmann::json;

namespace {

/// Class = which of two symbols is the more frequent; padded to different lengths.
class Majority : public Task {
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

Chosen plugin(const std::string& id) {
  return with_defaults(load_library(std::string(ABLATE_BUILD_DIR "/lib/ablate/plugins/") + id + ".so"));
}

/// A trial and all that it told, in order.
struct Told {
  TrialResult result;
  std::vector<Progress> reports;
  std::string failed;  ///< the reason, where it did not end well

  std::vector<CurvePart> parts() const {
    std::vector<CurvePart> all;
    for (const auto& report : reports) all.push_back(report.curve);
    all.push_back(result.curve);
    return all;
  }
  std::vector<CurvePoint> points() const {
    std::vector<CurvePoint> all;
    for (const auto& part : parts()) all.insert(all.end(), part.points.begin(), part.points.end());
    return all;
  }
  /// By name; each is told once, and no later than its first point.
  std::map<std::string, MetricInfo> metrics() const {
    std::map<std::string, MetricInfo> all;
    for (const auto& part : parts()) {
      for (const auto& metric : part.metrics) CHECK(all.emplace(metric.name, metric).second);
      for (const auto& point : part.points) CHECK(all.contains(point.metric));
    }
    return all;
  }
};

Told run(const json& train, const Chosen& attention, std::uint64_t seed = 1, Task&& task = Majority()) {
  const json resolved{
      {"model", section(model_parameters(), {{"d_model", 16}, {"hidden", 16}, {"dropout", 0.1}})},
      {"train", section(train_parameters(), {{"steps", 60}, {"batch", 20}, {"learning_rate", 0.01}, {"warmup", 5}})},
      {"seed", seed}};
  auto changed = resolved;
  changed["train"].update(train);
  Told told;
  try {
    told.result = run_trial({changed, task, attention, {}}, [&](const Progress& now) { told.reports.push_back(now); });
  } catch (const std::exception& error) {
    told.failed = error.what();
  }
  return told;
}

Told run(const json& train, std::uint64_t seed = 1, const char* attention = "linear") {
  auto told = run(train, plugin(attention), seed);
  REQUIRE(told.failed == "");
  return told;
}

std::string failure(const json& train, std::int64_t bad_id = 0) {
  return run(train, plugin("linear"), 1, Majority(bad_id)).failed;
}

/// Reports figures whose means are known, and keeps a number that float32 has not.
class Reporting final : public HeadwiseAttention {
 public:
  static constexpr std::int64_t kOdd = (1 << 24) + 1;

  explicit Reporting(const AttentionContext& context) : HeadwiseAttention(context, 1), layer_(made++ % 2) {
    count_ = register_buffer("count", torch::full({1}, kOdd, torch::kInt64));
  }
  AttentionOutput forward(const AttentionInput& input) override {
    if (count_.scalar_type() != torch::kInt64 || count_.item<std::int64_t>() != kOdd)
      throw std::runtime_error("a buffer of integers was cast");
    auto result = HeadwiseAttention::forward(input);
    if (!input.measure) return result;
    result.metrics.push_back({"batch", static_cast<double>(input.queries.size(0)), "examples"});
    if (layer_ == 1) result.metrics.push_back({"of_second_layer", 7, ""});
    return result;
  }
  torch::Tensor attend(const torch::Tensor&, const torch::Tensor&, const torch::Tensor& values, const torch::Tensor&) override {
    return values;
  }

 private:
  static inline int made = 0;
  int layer_;
  torch::Tensor count_;
};

Chosen reporting() {
  static constexpr auto descriptor = [] {
    auto made = ablate::detail::describe(
        Kind::kAttention,
        {.id = "reporting", .version = "1", .summary = "reports", .capabilities = {.key_padding = true}, .parameters = {}});
    made.make_attention = [](const AttentionContext& context) -> std::shared_ptr<Attention> {
      return std::make_shared<Reporting>(context);
    };
    return made;
  }();
  return with_defaults(descriptor);
}

}  // namespace

TEST_CASE("a trial learns, and says everything it measured with a definition") {
  count_tensor_memory();
  const auto told = run(json::object());
  const auto& result = told.result;
  CHECK(result.values.at("dev/accuracy") > 75);
  CHECK(result.values.at("test/accuracy") > 70);
  CHECK(result.values.at("memory/peak_tensor") > 0);
  CHECK(result.values.at("model/parameters") > 1000);
  const auto metrics = told.metrics();
  for (const auto& [name, value] : result.values) {
    INFO(name);
    CHECK(metrics.contains(name));
  }
  CHECK(told.points().size() == 60 + 2 * 10);
}

TEST_CASE("same key and seed, same bits; another seed, others") {
  const auto a = run(json::object()), b = run(json::object()), c = run(json::object(), 2);
  for (const char* name : {"dev/accuracy", "dev/loss", "test/loss", "train/loss", "memory/peak_tensor"})
    CHECK(a.result.values.at(name) == b.result.values.at(name));
  CHECK(a.result.values.at("train/loss") != c.result.values.at("train/loss"));
  const auto points = a.points(), again = b.points();
  REQUIRE(points.size() == again.size());
  for (std::size_t i = 0; i < points.size(); ++i) CHECK(points[i].value == again[i].value);
}

TEST_CASE("on shuffled labels there is nothing to learn") {
  CHECK(run(json::object()).result.values.at("train/loss") < 0.5);
  // ln 2 = 0.693 is the loss of a fair guess between two classes.
  CHECK(run({{"shuffle_labels", true}}).result.values.at("train/loss") > 0.65);
}

TEST_CASE("half precision learns as float32 does, in half the activations") {
  const auto whole = run(json::object(), 1, "softmax"), half = run({{"dtype", "bfloat16"}}, 1, "softmax");
  CHECK(half.result.values.at("test/accuracy") > 70);
  CHECK(half.result.values.at("train/loss") != whole.result.values.at("train/loss"));
  CHECK(half.result.values.at("train/loss") == Approx(whole.result.values.at("train/loss")).margin(0.1));
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
  const auto values = run(json::object()).result.values;
  CHECK(values.at("train/forward_time") > 0);
  CHECK(values.at("train/forward_backward_time") > values.at("train/forward_time"));
  CHECK(values.at("train/step_time") > values.at("train/forward_backward_time"));
}

TEST_CASE("peak memory is that of training, whether and when a checkpoint was kept") {
  count_tensor_memory();
  const auto peak = [](int every) { return run({{"evaluate_every", every}}).result.values.at("memory/peak_tensor"); };
  const auto at_the_end = peak(60);
  for (const int every : {1, 7, 30}) CHECK(peak(every) == at_the_end);
}

TEST_CASE("the best checkpoint is the one that is tested") {
  /// Tested on dev.
  class Same final : public Majority {
   public:
    void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
      Majority::read(split == Split::kTest ? Split::kDev : split, indices, batch);
    }
  };
  // Such steps destroy again what they have learned.
  const json rough{{"steps", 100}, {"learning_rate", 0.05}, {"schedule", "constant"}, {"evaluate_every", 5}};
  const auto told = run(rough, plugin("linear"), 1, Same());
  const auto& values = told.result.values;
  CHECK(values.at("dev/best_step") < 100);
  CHECK(values.at("test/accuracy") == values.at("dev/accuracy"));
  CHECK(values.at("test/loss") == values.at("dev/loss"));
  double last = 0;
  for (const auto& point : told.points())
    if (point.metric == "dev/loss") last = point.value;
  CHECK(values.at("test/loss") != last);
}

TEST_CASE("what an attention reports is its own, over the layers that report it, and every example weighs the same") {
  for (const char* type : {"float32", "bfloat16"}) {
    const auto told = run({{"steps", 4}, {"batch", 30}, {"dtype", type}}, reporting());
    REQUIRE(told.failed == "");
    // 100 examples in batches of 30, 30, 30 and 10.
    CHECK(told.result.values.at("attention/reporting/batch") == Approx((3 * 30 * 30 + 10 * 10) / 100.0));
    CHECK(told.result.values.at("attention/reporting/of_second_layer") == 7);
    const auto metric = told.metrics().at("attention/reporting/batch");
    CHECK(metric.unit == "examples");
    CHECK(metric.description.find("reporting") != std::string::npos);
  }
}

TEST_CASE("a trial tells its curve while it runs, and what it had before it fails") {
  const auto whole = run(json::object());
  REQUIRE(whole.reports.size() >= 2);
  CHECK(whole.reports.front().step == 0);
  CHECK(whole.reports.front().steps == 60);
  CHECK(whole.reports.front().curve.points.empty());
  CHECK(whole.reports.back().step == 60);
  CHECK(whole.result.curve.points.empty());

  const auto told = run({{"learning_rate", 1e30}, {"schedule", "constant"}, {"warmup", 0}}, plugin("linear"));
  CHECK(told.failed.find("at step") != std::string::npos);
  const auto last = told.reports.back().step;
  CHECK(last >= 1);
  CHECK(told.failed.find(fmt::format("at step {}", last + 1)) != std::string::npos);
  CHECK(told.metrics().contains("train/loss"));
  const auto points = told.points();
  CHECK(std::count_if(points.begin(), points.end(), [](const auto& point) { return point.metric == "train/loss"; }) == last);
}

TEST_CASE("the spread of times is that of their middle half, without the first step") {
  CHECK(spread({3}) == 0);
  CHECK(spread({1, 3}) == Approx(50));        // 2 +- 0.5: the first counts where there are no more than two
  CHECK(spread({900, 10, 10, 10, 10}) == 0);  // the first pays for what the others find
  CHECK(spread({900, 1, 2, 3, 4, 5}) == Approx(200.0 / 3));
  CHECK(spread({900, 10, 10, 10, 500, 10, 10, 10}) == 0);  // one disturbed step is no spread
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
