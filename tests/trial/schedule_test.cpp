#include <cmath>

#include "core/shared/metrics.h"
#include "core/shared/schedules.h"
#include "tests/support/catch.h"

namespace {

/// Returns the defaults of a schedule's own parameters.
nlohmann::json defaults_of(const ablate::Schedule& schedule) {
  auto own = nlohmann::json::object();
  for (const auto& parameter : ablate::own_of("schedule", std::array{schedule})) own[parameter.name] = parameter.default_value;
  return own;
}

double learning_rate_factor(const char* name, std::int64_t step, std::int64_t steps, std::int64_t warmup,
                            const nlohmann::json& changes = nlohmann::json::object()) {
  const auto& schedule = ablate::schedule_of(name);
  auto own = defaults_of(schedule);
  own.update(changes);
  return schedule.rate({step, steps, warmup, own}).factor;
}

}  // namespace

TEST_CASE("constant rises linearly and then stays constant") {
  CHECK(learning_rate_factor("constant", 1, 100, 10) == Approx(0.1));
  CHECK(learning_rate_factor("constant", 10, 100, 10) == Approx(1));
  CHECK(learning_rate_factor("constant", 100, 100, 10) == Approx(1));
  CHECK(learning_rate_factor("constant", 1, 100, 0) == Approx(1));
}

TEST_CASE("one-cycle is PyTorch's OneCycleLR with linear annealing") {
  // Values of torch.optim.lr_scheduler.OneCycleLR(max_lr=1, total_steps=100, pct_start=0.1, anneal_strategy='linear') at the
  // steps 1, 5, 10, 55 and 100.
  CHECK(learning_rate_factor("one-cycle", 1, 100, 10) == Approx(0.04));
  CHECK(learning_rate_factor("one-cycle", 5, 100, 10) == Approx(0.04 + 0.96 * 4 / 9));
  CHECK(learning_rate_factor("one-cycle", 10, 100, 10) == Approx(1));
  CHECK(learning_rate_factor("one-cycle", 55, 100, 10) == Approx(0.5).epsilon(1e-4));
  CHECK(learning_rate_factor("one-cycle", 100, 100, 10) == Approx(4e-6));
}

TEST_CASE("cosine ends at 0, and is one half in the middle of its rise and of its fall") {
  CHECK(learning_rate_factor("cosine", 5, 110, 10) == Approx(0.5));
  CHECK(learning_rate_factor("cosine", 60, 110, 10) == Approx(0.5));
  CHECK(learning_rate_factor("cosine", 110, 110, 10) == Approx(0).margin(1e-12));
}

TEST_CASE("a cosine ends at its floor, and falls half of the way until the middle; without a floor it is the plain cosine") {
  const nlohmann::json tenth{{"cosine_floor", 0.1}};
  CHECK(learning_rate_factor("cosine", 5, 110, 10, tenth) == Approx(0.5));  // the warm-up begins at 0
  CHECK(learning_rate_factor("cosine", 10, 110, 10, tenth) == Approx(1));
  CHECK(learning_rate_factor("cosine", 60, 110, 10, tenth) == Approx(0.55));
  CHECK(learning_rate_factor("cosine", 110, 110, 10, tenth) == Approx(0.1));
  for (int step = 10; step <= 110; ++step)  // equal to the last bit
    CHECK(learning_rate_factor("cosine", step, 110, 10) == 0.5 * (1 + std::cos(std::acos(-1.0) * ((step - 10.0) / 100))));
}

TEST_CASE("wsd is flat between its warm-up and its cool-down, which falls to 0 linearly or by 1 - sqrt") {
  const auto at = [](std::int64_t step, const char* shape, double cooldown = 0.25) {
    return learning_rate_factor("wsd", step, 200, 20, {{"cooldown", cooldown}, {"cooldown_shape", shape}});
  };
  for (const char* shape : {"linear", "1-sqrt"}) {
    CHECK(at(1, shape) == Approx(0.05));
    CHECK(at(10, shape) == Approx(0.5));
    for (const int step : {20, 21, 100, 150}) CHECK(at(step, shape) == 1);
    CHECK(at(151, shape) < 1);
    CHECK(at(200, shape) == 0);
    CHECK(at(200, shape, 0) == 1);  // no cool-down: constant
    CHECK(at(200, shape, 1) == 0);
  }
  CHECK(at(175, "linear") == Approx(0.5));
  CHECK(at(175, "1-sqrt") == Approx(1 - std::sqrt(0.5)));
  CHECK(at(162, "1-sqrt") == Approx(1 - std::sqrt(0.24)));
  CHECK(learning_rate_factor("wsd", 180, 200, 0) == Approx(0.5));  // the default cool-down is a fifth
}

TEST_CASE("inverse-sqrt is the Long Range Arena's schedule, up to a constant factor") {
  const auto google = [](double s, double w) { return std::min(1.0, s / w) / std::sqrt(std::max(s, w)); };
  for (const int step : {1, 500, 1000, 2000, 5000})
    CHECK(learning_rate_factor("inverse-sqrt", step, 5000, 1000) / std::sqrt(1000) == Approx(google(step, 1000)));
}

TEST_CASE("no schedule leaves [0, 1], with any warm-up") {
  for (const auto& schedule : ablate::kSchedules) {
    const auto own = defaults_of(schedule);
    for (const int warmup : {0, 1, 7, 20})
      for (int step = 1; step <= 20; ++step) {
        const double factor = schedule.rate({step, 20, warmup, own}).factor;
        CHECK(std::isfinite(factor));
        CHECK(factor >= 0);
        CHECK(factor <= 1 + 1e-12);
      }
  }
  CHECK_THROWS_AS(ablate::schedule_of("linear"), std::invalid_argument);
}

TEST_CASE("own parameters of a choice are read only with that choice, and only if their condition holds") {
  using namespace ablate;
  constexpr Choice kList[] = {{.name = "plain", .help = "brings nothing"},
                              {.name = "steep",
                               .help = "brings two",
                               .own = {real("power", "2", {0, 9}, ""), when("steps > 5", real("bend", "1", {}, ""))}}};
  const auto own = own_of("shape", kList);
  REQUIRE(own.size() == 2);
  CHECK(own[0].name == "power");
  CHECK(own[0].default_value == 2);
  CHECK(own[0].when == "shape = steep");
  CHECK(own[1].name == "bend");
  CHECK(own[1].when == "shape = steep and steps > 5");
  CHECK(index_of_choice(kList, "steep") == 1);
  CHECK_THROWS_WITH(index_of_choice(kList, "flat"), "\"flat\" is none of plain|steep");
  CHECK(RunStep(1, 2, 0, {{"power", 3.0}}).own.at("power") == 3.0);  // a schedule reads `own` like this
}

TEST_CASE("every metric has a name in a domain, a description and a known direction") {
  for (const auto metrics : {ablate::training_metrics(), ablate::process_metrics()})
    for (const auto& metric : metrics) {
      CHECK(metric.name.find('/') != std::string::npos);
      CHECK_FALSE(metric.description.empty());
      CHECK((metric.direction == "max" || metric.direction == "min" || metric.direction.empty()));
    }
}

TEST_CASE("every metric has a kind: times and memory are costs of the host, and step times have a spread") {
  std::string costs, of_steps, counts;
  for (const auto metrics : {ablate::training_metrics(), ablate::process_metrics()})
    for (const auto& metric : metrics) {
      INFO(metric.name);
      CHECK((metric.owner == ablate::MetricOwner::kHost) == (metric.name != "train/loss"));
      if (metric.is_measured()) costs += metric.name + " ";
      if (metric.of_steps) of_steps += metric.name + " ";
      if (metric.kind == ablate::MetricKind::kCount) counts += metric.name + " ";
      CHECK(nlohmann::json(metric).get<ablate::MetricInfo>().of_steps == metric.of_steps);
      CHECK(nlohmann::json(metric).get<ablate::MetricInfo>().is_measured() == metric.is_measured());
    }
  const std::string times = "train/forward_time train/forward_backward_time train/step_time train/step_cpu_time ";
  CHECK(of_steps == times + "train/examples_per_second ");
  CHECK(costs == times +
                     "train/step_spread train/examples_per_second memory/peak_tensor memory/state memory/peak_resident "
                     "time/cpu time/wall ");
  CHECK(counts == "dev/best_step train/replayed_steps model/parameters ");
  const auto accuracy = ablate::objective_metric("accuracy");
  CHECK((accuracy.kind == ablate::MetricKind::kScore && accuracy.owner == ablate::MetricOwner::kTask));
}
