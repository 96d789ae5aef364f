// Our optimisers equal torch's. Each of ours also has clipping, float32 copies, and weights without decay.
#include "core/trial/training/optimizer.h"

#include <ATen/ATen.h>
#include <torch/optim/adamw.h>
#include <torch/optim/sgd.h>

#include <functional>
#include <limits>

#include "tests/support/catch.h"

using namespace ablate;

namespace {

using Parameters = std::vector<Module::Entry>;

std::unique_ptr<Optimizer> adamw(const Parameters& parameters, double weight_decay, double epsilon = 1e-6,
                                 const Precision& precision = precisions::float32({})) {
  TrainSpec train{.optimizer = "adamw", .weight_decay = weight_decay};
  train.own = {{"beta1", 0.9}, {"beta1_low", 0.0}, {"beta2", 0.99}, {"epsilon", epsilon}};
  return make_optimizer({parameters, precision}, train);
}

std::unique_ptr<Optimizer> sgd(const Parameters& parameters, double weight_decay, double momentum,
                               const Precision& precision = precisions::float32({})) {
  TrainSpec train{.optimizer = "sgd", .weight_decay = weight_decay};
  train.own = {{"momentum", momentum}};
  return make_optimizer({parameters, precision}, train);
}

/// Returns the largest difference of the weights after five steps of both optimisers towards the same targets.
double apart(const std::function<std::unique_ptr<Optimizer>(const Parameters&)>& make,
             const std::function<std::unique_ptr<torch::optim::Optimizer>(const Tensor&)>& make_reference) {
  const auto start = torch::randn({5, 3});
  auto ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
  auto idle = torch::ones({2}).requires_grad_();
  const auto optimizer = make({{"ours", ours, {}}, {"idle", idle, {}}});
  const auto reference = make_reference(theirs);
  for (int step = 0; step < 5; ++step) {
    const auto target = torch::randn({5, 3});
    optimizer->zero_grad();
    reference->zero_grad();
    (ours - target).square().sum().backward();
    (theirs - target).square().sum().backward();
    optimizer->step(0.01);
    reference->step();
  }
  CHECK((start - ours).abs().max().item<double>() > 0.01);
  CHECK(torch::equal(idle, torch::ones({2})));  // no gradient, so no decay either
  return (ours - theirs).abs().max().item<double>();
}

}  // namespace

TEST_CASE("AdamW takes the same steps as torch's AdamW") {
  using Options = torch::optim::AdamWOptions;
  CHECK(apart([](const auto& parameters) { return adamw(parameters, 0.1); },
              [](const auto& weight) {
                return std::make_unique<torch::optim::AdamW>(std::vector{weight},
                                                             Options(0.01).betas({0.9, 0.99}).eps(1e-6).weight_decay(0.1));
              }) < 1e-5);
}

TEST_CASE("SGD takes the same steps as torch's SGD, with momentum and without") {
  using Options = torch::optim::SGDOptions;
  for (const double momentum : {0.0, 0.9}) {
    INFO(momentum);
    const auto reference = [&](double with) {
      return [with](const Tensor& weight) {
        return std::make_unique<torch::optim::SGD>(std::vector{weight}, Options(0.01).momentum(with).weight_decay(0.1));
      };
    };
    const auto ours = [&](const auto& parameters) { return sgd(parameters, 0.1, momentum); };
    CHECK(apart(ours, reference(momentum)) < 1e-5);
    CHECK(apart(ours, reference(0.5)) > 1e-3);
    const auto without_decay = [&](const auto& parameters) { return sgd(parameters, 0, momentum); };
    CHECK(apart(without_decay, reference(momentum)) > 1e-4);
  }
}

TEST_CASE("an unknown optimiser is refused") {
  CHECK_THROWS_WITH(make_optimizer({{}, precisions::float32({})}, {.optimizer = "adam"}), "\"adam\" is none of adamw|sgd");
}

TEST_CASE("clipping bounds the norm of all gradients together") {
  auto a = torch::ones({4}).requires_grad_(), b = torch::ones({9}).requires_grad_();
  const auto optimizer = adamw({{"a", a, {}}, {"b", b, {}}}, 0);
  const auto norm = [&] { return std::sqrt(a.grad().square().sum().item<double>() + b.grad().square().sum().item<double>()); };
  (10 * a.sum() + 10 * b.sum()).backward();
  optimizer->clip(0);
  CHECK(norm() == Approx(10 * std::sqrt(13.0)));
  optimizer->clip(1);
  CHECK(norm() == Approx(1).epsilon(1e-4));
}

TEST_CASE("steps smaller than the digits of bfloat16 add up") {
  // Below 1, numbers of bfloat16 are 1/256 apart. Under a constant gradient of 1, both optimisers step by the learning rate.
  for (const bool adam : {true, false}) {
    auto weight = torch::ones({4}, torch::kBFloat16).requires_grad_();
    const Parameters parameters{{"weight", weight, {}}};
    const auto optimizer = adam ? adamw(parameters, 0, 1e-8) : sgd(parameters, 0, 0);
    for (int step = 0; step < 20; ++step) {
      optimizer->zero_grad();
      weight.sum().backward();
      optimizer->step(1e-3);
    }
    CHECK(weight[0].item<double>() == Approx(0.98).margin(1.0 / 256));
  }
}

TEST_CASE("parameters without weight decay do not decay") {
  for (const bool adam : {true, false}) {
    auto weight = at::ones({3}).requires_grad_(), bias = at::ones({3}).requires_grad_();
    const Parameters parameters{{"weight", weight, {}}, {"bias", bias, {.decay = false}}};
    const auto optimizer = adam ? adamw(parameters, 0.5) : sgd(parameters, 0.5, 0.9);
    optimizer->zero_grad();
    (0 * weight.sum() + 0 * bias.sum()).backward();
    optimizer->step(0.1);
    CHECK(at::allclose(weight, at::full({3}, 0.95)));
    CHECK(at::equal(bias, at::ones({3})));
  }
}

TEST_CASE("a step whose scaled gradients overflow changes nothing, and a training with only such steps fails") {
  const Precision half{.type = at::kHalf, .loss_scale = 4096};
  for (const bool clips : {false, true})
    for (const bool adam : {true, false}) {
      INFO("clips " << clips << ", adam " << adam);
      auto weight = at::ones({3}, at::kHalf).requires_grad_(), other = at::ones({3}, at::kHalf).requires_grad_();
      const Parameters parameters{{"weight", weight, {}}, {"other", other, {}}};
      const auto optimizer = adam ? adamw(parameters, 0.1, 1e-6, half) : sgd(parameters, 0.1, 0.9, half);
      const auto take = [&](double slope) {
        optimizer->zero_grad();
        (weight * slope).sum().backward(), other.sum().backward();
        optimizer->clip(clips ? 1 : 0);
        optimizer->step(0.25);
      };
      const auto state = [&] {
        std::vector<Tensor> all{weight.detach().to(at::kDouble)};
        for (const auto& one : optimizer->state()) all.push_back(one.detach().to(at::kDouble).flatten());
        return at::cat(all);
      };
      take(8);
      const auto before = state();
      take(1e5);  // the gradient is infinite in float16
      take(std::numeric_limits<double>::quiet_NaN());
      CHECK(at::equal(state(), before));
      take(8);
      CHECK_FALSE(at::equal(state(), before));
      CHECK(at::isfinite(state()).all().item<bool>());
      for (int i = 1; i < Optimizer::kMostSkipped; ++i) take(1e5);
      CHECK_THROWS_WITH(take(1e5),
                        Catch::StartsWith("the gradients of 100 steps, one after the other, overflow at a loss scale "
                                          "of 4096"));
    }
}

TEST_CASE("a scaled loss in float16 gives the same steps as a loss that is not scaled") {
  const Precision half{.type = at::kHalf, .loss_scale = 4096};
  const auto start = at::tensor({1.0, -0.5, 0.25}, at::kFloat);
  for (const bool clips : {false, true})
    for (const bool adam : {true, false}) {
      INFO("clips " << clips << ", adam " << adam);
      auto narrow = start.to(at::kHalf).requires_grad_(), wide = start.clone().requires_grad_();
      const auto make = [&](const Tensor& weight, const Precision& precision) {
        const Parameters parameters{{"weight", weight, {}}};
        return adam ? adamw(parameters, 0, 1e-9, precision) : sgd(parameters, 0, 0.9, precision);
      };
      const auto scaled = make(narrow, half), plain = make(wide, precisions::float32({}));
      for (int step = 0; step < 5; ++step) {
        scaled->zero_grad(), plain->zero_grad();
        // 2^-25 is 0 in float16. With a slope of 12, each scaled gradient fits into float16, and their norm overflows.
        const double slope = clips ? 12 : 0x1p-25;
        (narrow * (slope * half.loss_scale)).sum().backward(), (wide * slope).sum().backward();
        scaled->clip(clips ? 0.01 : 0), plain->clip(clips ? 0.01 : 0);
        const double rate = adam ? 0.01 : clips ? 0.1 : 1e5;
        scaled->step(rate), plain->step(rate);
      }
      const auto moved = (wide - start).abs().max().item<double>();
      CHECK(moved > 1e-3);
      CHECK((scaled->state().front() - wide).abs().max().item<double>() < 1e-3 * moved);
    }
}
