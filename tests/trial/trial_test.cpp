// A trial in this process: bits are reproducible, promises are required, and failures have reasons.
#include <fmt/format.h>

#include "core/kernels/mixed_products.h"
#include "core/trial/device/tensor_memory.h"
#include "core/util/error.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

/// The test examples are the dev examples.
class TestedOnDev final : public Majority {
 public:
  void read(Split split, std::span<const std::int64_t> indices, BatchView batch) const override {
    Majority::read(split == Split::kTest ? Split::kDev : split, indices, batch);
  }
};

/// These steps are so large that they destroy what was learned.
const json kRough{{"steps", 100}, {"learning_rate", 0.05}, {"schedule", "constant"}, {"evaluate_every", 5}};

std::string failure(const json& train, std::int64_t bad_id = 0) {
  return run(train, plugin("linear"), 1, Majority(bad_id)).failed;
}

}  // namespace

TEST_CASE("a trial learns, and every metric has a definition") {
  count_tensor_memory();
  const auto ran = run(json::object());
  const auto& result = ran.result;
  CHECK(result.values.at("dev/accuracy") > 75);
  CHECK(result.values.at("test/accuracy") > 70);
  CHECK(result.values.at("memory/peak_tensor") > 0);
  CHECK(result.values.count("memory/state") == 0);  // no state is carried
  CHECK(result.values.at("model/parameters") > 1000);
  const auto metrics = ran.metrics();
  for (const auto& [name, value] : result.values) {
    INFO(name);
    CHECK(metrics.contains(name));
  }
  CHECK(ran.points().size() == 60 + 2 * 10);
}

TEST_CASE("the same key and seed give the same bits, and another seed gives other bits") {
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

TEST_CASE("half precision learns as float32 does") {
  const auto whole = run(json::object(), 1, "softmax"), half = run({{"dtype", "bfloat16"}}, 1, "softmax");
  CHECK(half.result.values.at("test/accuracy") > 70);
  CHECK(half.result.values.at("train/loss") != whole.result.values.at("train/loss"));
  CHECK(half.result.values.at("train/loss") == Approx(whole.result.values.at("train/loss")).margin(0.1));
}

TEST_CASE("mixed products learn as float32 does, and each trial sets its own products") {
  auto* const before = kernels::product();
  const auto whole = run(json::object(), 1, "softmax"), mixed = run({{"dtype", "mixed"}}, 1, "softmax");
  if (kernels::mixed_instructions().empty()) {
    CHECK(mixed.failed.find("no products of bfloat16") != std::string::npos);
    return;
  }
  CHECK(mixed.result.values.at("test/accuracy") > 70);
  CHECK(mixed.result.values.at("train/loss") == Approx(whole.result.values.at("train/loss")).margin(0.1));
  // Products of a width of 16 or more have a mixed form, which rounds numbers.
  CHECK(mixed.result.values.at("train/loss") != whole.result.values.at("train/loss"));
  CHECK(kernels::product() == before);  // restored after the training
}

TEST_CASE("the best weights are tested") {
  const auto ran = run(kRough, plugin("linear"), 1, TestedOnDev());
  const auto& values = ran.result.values;
  CHECK(values.at("dev/best_step") < 100);
  CHECK(values.at("test/accuracy") == values.at("dev/accuracy"));
  CHECK(values.at("test/loss") == values.at("dev/loss"));
  double last = 0;
  for (const auto& point : ran.points())
    if (point.metric == "dev/loss") last = point.value;
  CHECK(values.at("test/loss") != last);
}

TEST_CASE("a trial can also test its last weights, which changes no other metric") {
  auto rough = kRough;
  const auto plain = run(rough, plugin("linear"), 1, TestedOnDev());
  rough["test_last"] = true;
  const auto ran = run(rough, plugin("linear"), 1, TestedOnDev());
  std::map<std::string, double> last;
  for (const auto& point : ran.points()) last[point.metric] = point.value;
  const auto metrics = ran.metrics();
  for (const std::string name : {"accuracy", "loss"}) {
    CHECK(ran.result.values.at("test_last/" + name) == last.at("dev/" + name));
    CHECK(metrics.at("test_last/" + name).direction == metrics.at("test/" + name).direction);
  }
  CHECK(ran.result.values.at("test_last/loss") != ran.result.values.at("test/loss"));
  CHECK(ran.result.main_metric == "test/accuracy");
  CHECK(ran.result.values.size() == plain.result.values.size() + 2);
  for (const auto& [name, value] : plain.result.values) {
    INFO(name);
    if (metrics.at(name).kind != MetricKind::kCost) CHECK(ran.result.values.at(name) == value);
  }
  // If dev selects the last step's weights, both results are equal.
  const auto once = run({{"test_last", true}, {"steps", 20}, {"evaluate_every", 20}}, plugin("linear")).result.values;
  CHECK(once.at("test_last/loss") == once.at("test/loss"));
}

TEST_CASE("a trial reports its curve while it runs, also if it fails later") {
  const auto whole = run(json::object());
  REQUIRE(whole.reports.size() >= 2);
  CHECK(whole.reports.front().step == 0);
  CHECK(whole.reports.front().steps == 60);
  CHECK(whole.reports.front().curve.points.empty());
  CHECK(whole.reports.back().step == 60);
  CHECK(whole.result.curve.points.empty());

  const auto ran =
      run({{"learning_rate", 10}, {"weight_decay", 10}, {"schedule", "constant"}, {"warmup", 0}}, plugin("linear"));
  INFO(ran.failed);
  CHECK(ran.failed.find("at step") != std::string::npos);
  const auto last = ran.reports.back().step;
  CHECK(last >= 1);
  CHECK(ran.failed.find(fmt::format("at step {}", last + 1)) != std::string::npos);
  CHECK(ran.metrics().contains("train/loss"));
  const auto points = ran.points();
  CHECK(std::count_if(points.begin(), points.end(), [](const auto& point) { return point.metric == "train/loss"; }) == last);
}

TEST_CASE("failures have a reason") {
  CHECK(failure({{"learning_rate", 10}, {"weight_decay", 10}, {"schedule", "constant"}, {"warmup", 0}}).find("at step") !=
        std::string::npos);
  CHECK(failure({{"device", "cuda:7"}}).find("was requested") != std::string::npos);
  CHECK(failure(json::object(), 3).find("the id 3 of the field token, and its vocabulary is 3") != std::string::npos);
  CHECK(failure(json::object(), -1).find("the id -1") != std::string::npos);
}

TEST_CASE("the order of training covers every example once an epoch, and depends only on the seed") {
  Shuffle order(10, 5, 5), same(10, 10, 5), other(10, 10, 6);
  std::vector<std::int64_t> epoch;
  for (int batch = 0; batch < 2; ++batch) {
    const auto next = order.next().indices;
    epoch.insert(epoch.end(), next.begin(), next.end());
  }
  CHECK(epoch == same.next().indices);
  CHECK(epoch != other.next().indices);
  CHECK(same.next().indices != epoch);
  std::sort(epoch.begin(), epoch.end());
  for (std::size_t i = 0; i < epoch.size(); ++i) CHECK(epoch[i] == static_cast<std::int64_t>(i));
}
