// The model around an attention: padding leaves no trace, and the optimiser is AdamW.
#include "core/trial/model/encoder.h"

#include <ATen/ATen.h>
#include <torch/optim/adamw.h>

#include "core/registry/library.h"
#include "core/trial/model/instances.h"
#include "core/trial/training/optimizer.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

std::shared_ptr<Encoder> encoder(bool class_token, const char* attention = "linear", std::uint64_t seed = 1) {
  const auto plugin = with_defaults(load_library(std::string(ABLATE_BUILD_DIR "/lib/ablate/plugins/") + attention + ".so"));
  auto generator = make_generator(seed);
  const EncoderShape shape{12, 9, 3, 2, 8, 16, 0.0, class_token};
  auto model = std::make_shared<Encoder>(
      shape,
      [&](std::int64_t length) {
        return make_attention(plugin, {}, {8, length}, generator);
      },
      generator);
  model->to(torch::kFloat64);
  return model;
}

torch::Tensor logits(Encoder& model, const torch::Tensor& ids, const torch::Tensor& mask) {
  return model.forward(ids, mask, at::globalContext().defaultGenerator(torch::kCPU), false).logits;
}

}  // namespace

TEST_CASE("a padded sequence classifies as the sequence itself", "[mask]") {
  for (const bool class_token : {false, true})
    for (const char* attention : {"linear", "softmax"}) {
      const auto model = encoder(class_token, attention);
      const auto ids = torch::randint(1, 12, {4, 9}, torch::kInt64);
      for (const std::int64_t length : {1, 5, 8}) {
        auto padded = ids.clone();
        padded.slice(1, length).zero_();
        const auto expected = logits(*model, ids.slice(1, 0, length), {});
        CHECK(torch::allclose(logits(*model, padded, padded.ne(0)), expected, 1e-10, 1e-12));
        // The mask decides, not the id: garbage under it changes nothing.
        CHECK(torch::allclose(logits(*model, ids, padded.ne(0)), expected, 1e-10, 1e-12));
        CHECK_FALSE(torch::allclose(logits(*model, ids, {}), expected, 1e-6, 1e-6));
      }
    }
}

TEST_CASE("one seed starts everything but the attention alike, whatever the attention") {
  const auto a = encoder(false, "linear"), b = encoder(false, "softmax"), c = encoder(false, "linear", 2);
  const auto weights = [](const Encoder& model, const std::string& name) { return model.named_parameters()[name]; };
  for (const char* name : {"tokens.weight", "positions", "layer2_expand.weight", "classifier.weight"}) {
    CHECK(torch::equal(weights(*a, name), weights(*b, name)));
    CHECK_FALSE(torch::equal(weights(*a, name), weights(*c, name)));
  }
}

TEST_CASE("the fused optimiser takes the steps of torch's AdamW") {
  const auto start = torch::randn({5, 3});
  auto ours = start.clone().requires_grad_(), theirs = start.clone().requires_grad_();
  auto idle = torch::ones({2}).requires_grad_();
  AdamW optimizer({ours, idle}, {0.9, 0.99, 1e-6, 0.1});
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
  AdamW optimizer({a, b}, {0.9, 0.99, 1e-6, 0});
  const auto norm = [&] { return std::sqrt(a.grad().square().sum().item<double>() + b.grad().square().sum().item<double>()); };
  (10 * a.sum() + 10 * b.sum()).backward();
  optimizer.clip(0);
  CHECK(norm() == Approx(10 * std::sqrt(13.0)));
  optimizer.clip(1);
  CHECK(norm() == Approx(1).epsilon(1e-4));
}
