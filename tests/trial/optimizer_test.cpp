// The optimiser is AdamW.
#include "core/trial/training/optimizer.h"

#include <ATen/ATen.h>
#include <torch/optim/adamw.h>

#include "tests/support/catch.h"

using namespace ablate;

TEST_CASE("the fused optimiser takes the steps of torch's AdamW") {
  const auto start = torch::randn({5, 3});
  auto ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
  auto idle = torch::ones({2}).requires_grad_();
  AdamW optimizer({{"ours", ours, {}}, {"idle", idle, {}}}, {0.9, 0.99, 1e-6, 0.1});
  torch::optim::AdamW reference({theirs}, torch::optim::AdamWOptions(0.01).betas({0.9, 0.99}).eps(1e-6).weight_decay(0.1));
  for (int step = 0; step < 5; ++step) {
    const auto target = torch::randn({5, 3});
    optimizer.zero_grad();
    reference.zero_grad();
    (ours - target).square().sum().backward();
    (theirs - target).square().sum().backward();
    optimizer.step(0.01);
    reference.step();
  }
  CHECK(torch::allclose(ours, theirs, 1e-5, 1e-6));
  CHECK(torch::equal(idle, torch::ones({2})));  // no gradient: not even decayed
}

TEST_CASE("clipping bounds the norm of all gradients together") {
  auto a = torch::ones({4}).requires_grad_(), b = torch::ones({9}).requires_grad_();
  AdamW optimizer({{"a", a, {}}, {"b", b, {}}}, {0.9, 0.99, 1e-6, 0});
  const auto norm = [&] { return std::sqrt(a.grad().square().sum().item<double>() + b.grad().square().sum().item<double>()); };
  (10 * a.sum() + 10 * b.sum()).backward();
  optimizer.clip(0);
  CHECK(norm() == Approx(10 * std::sqrt(13.0)));
  optimizer.clip(1);
  CHECK(norm() == Approx(1).epsilon(1e-4));
}

TEST_CASE("steps smaller than the digits of bfloat16 add up") {
  // Below 1 bfloat16 steps by 1/256; under a constant gradient AdamW steps by its learning rate.
  auto weight = torch::ones({4}, torch::kBFloat16).requires_grad_();
  AdamW optimizer({{"weight", weight, {}}}, {.beta1 = 0.9, .beta2 = 0.999, .epsilon = 1e-8, .weight_decay = 0});
  for (int step = 0; step < 20; ++step) {
    optimizer.zero_grad();
    weight.sum().backward();
    optimizer.step(1e-3);
  }
  CHECK(weight[0].item<double>() == Approx(0.98).margin(1.0 / 256));
}

TEST_CASE("what takes no weight decay gets none") {
  auto weight = at::ones({3}).requires_grad_(), bias = at::ones({3}).requires_grad_();
  AdamW optimizer({{"weight", weight, {}}, {"bias", bias, {.decay = false}}}, {0.9, 0.99, 1e-6, 0.5});
  optimizer.zero_grad();
  (0 * weight.sum() + 0 * bias.sum()).backward();
  optimizer.step(0.1);
  CHECK(at::allclose(weight, at::full({3}, 0.95)));
  CHECK(at::equal(bias, at::ones({3})));
}
