// Norms and feed-forward parts by their formulas in float64, and a block with parts that core/kernels does not have.
#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include "core/trial/model/instances.h"
#include "core/trial/model/model.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

constexpr std::int64_t kWidth = 32, kHidden = 48;

/// Returns zeros, so that a block has only its norms and its feed-forward part.
class Silent final : public Attention {
  AttentionOutput do_forward(const AttentionInput& input) override { return {.output = at::zeros_like(input.queries)}; }
};

ModelOptions options_of(const char* norm, const char* feed_forward, const char* activation) {
  return {.d_model = kWidth,
          .hidden = kHidden,
          .norm = norm_of(norm),
          .feed_forward = feed_forward_of(feed_forward),
          .activation = activation_of(activation),
          .own = nlohmann::json::object()};
}

/// Makes a block with weights of `type`, and draws the weights of its norms, too.
std::shared_ptr<Block> block_of(const ModelOptions& options, at::ScalarType type) {
  auto block = std::make_shared<Block>(options, make_generator(3));
  for (auto& entry : block->parameters())
    if (entry.name.starts_with("norm")) entry.tensor.data().normal_(1, 0.5, make_generator(entry.name.size()));
  move_to(*block, at::kCPU, type);
  return block;
}

Tensor tokens(at::ScalarType type) { return randn({2, 40, kWidth}, make_generator(5), kDouble).mul(3).add(0.5).to(type); }

Tensor weight(const Module& module, const std::string& name) {
  for (const auto& entry : module.parameters())
    if (entry.name == name) return entry.tensor;
  FAIL("no parameter " << name);
  return {};
}

Tensor run(const Block& block, Tensor x) {
  Silent attention;
  block.forward(x, attention, {.generator = make_generator(7)});
  return x;
}

/// RMS norm (Zhang and Sennrich 2019). Without `mean`, it divides by the root of the sum of squares, which is wrong.
Tensor rms(const Tensor& x, const Tensor& gain, bool mean = true) {
  const auto squares = x.square();
  return x / ((mean ? squares.mean(-1, true) : squares.sum(-1, true)) + 1e-5).sqrt() * gain;
}

/// Gated part (Shazeer 2020, Eq. 5 and 6). If `swapped`, gate and value are exchanged, which is wrong.
Tensor gated(const Module& part, const std::string& prefix, const Tensor& x, bool swish, bool swapped = false) {
  auto a = x.matmul(weight(part, prefix + "gate.weight").t()), b = x.matmul(weight(part, prefix + "expand.weight").t());
  if (swapped) std::swap(a, b);
  const auto gate = swish ? a / (1 + (-a).exp()) : a * (1 + (a / std::sqrt(2.0)).erf()) / 2;
  return (gate * b).matmul(weight(part, prefix + "contract.weight").t());
}

double apart(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

/// Returns the largest difference between gradients of `ours` and of `formula`, for x and the module's weights.
double gradients_apart(const Module& module, const Tensor& x, const Tensor& ours, const Tensor& formula) {
  std::vector<Tensor> of{x};
  for (const auto& entry : module.parameters()) of.push_back(entry.tensor);
  const auto seed = randn(ours.sizes(), make_generator(9), kDouble);
  const auto a = torch::autograd::grad({ours}, of, {seed}, true, false, true),
             b = torch::autograd::grad({formula}, of, {seed}, true, false, true);
  double most = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    REQUIRE(a[i].defined() == b[i].defined());
    if (a[i].defined()) most = std::max(most, apart(a[i], b[i]));
  }
  return most;
}

}  // namespace

TEST_CASE("the RMS norm is x over the root of its mean square, without a mean or a bias, in values and gradients") {
  auto norm = norm_of("rms")(kWidth, {});
  REQUIRE(norm->parameters().size() == 1);
  CHECK_FALSE(norm->layer_norm());  // core/kernels has operations only with a layer norm
  auto gain = norm->parameters().front().tensor;
  CHECK(at::equal(gain, at::ones({kWidth})));
  move_to(*norm, at::kCPU, at::kDouble);
  gain.data().normal_(1, 0.5, make_generator(1));
  const auto x = tokens(at::kDouble).requires_grad_();
  const auto found = norm->forward(x), formula = rms(x, gain);
  CHECK(apart(found, formula) < 1e-13);
  CHECK(gradients_apart(*norm, x, found, formula) < 1e-12);
  CHECK(apart(found, rms(x, gain, false)) > 0.1);
  CHECK(apart(found, at::layer_norm(x, {kWidth}, gain)) > 0.1);
  // In half precision, squares are computed in float32: the square of 300 overflows float16.
  const auto large = at::full({1, kWidth}, 300, at::kHalf);
  auto narrow = norm_of("rms")(kWidth, {});
  move_to(*narrow, at::kCPU, at::kHalf);
  CHECK(apart(narrow->forward(large).to(at::kDouble), at::ones({1, kWidth}, at::kDouble)) < 1e-3);
}

TEST_CASE("gated parts are SwiGLU and GEGLU without biases, in values and gradients") {
  for (const bool swish : {true, false}) {
    INFO("silu " << swish);
    const auto options = options_of("layer", "gated", swish ? "silu" : "gelu");
    const auto part = options.feed_forward(options, make_generator(3));
    std::int64_t numbers = 0;
    for (const auto& entry : part->parameters()) numbers += entry.tensor.numel();
    CHECK(numbers == 3 * kWidth * kHidden);
    move_to(*part, at::kCPU, at::kDouble);
    const auto x = tokens(at::kDouble).requires_grad_();
    const auto found = part->forward(x), formula = gated(*part, "", x, swish);
    CHECK(apart(found, formula) < 1e-13);
    CHECK(gradients_apart(*part, x, found, formula) < 1e-11);
    CHECK(apart(found, gated(*part, "", x, !swish)) > 1e-3);
    CHECK(apart(found, gated(*part, "", x, swish, true)) > 1e-3);
  }
}

TEST_CASE("dropout of a gated part is between its layers, only in training") {
  auto options = options_of("layer", "gated", "silu");
  options.inner_dropout = 0.5;
  const auto part = options.feed_forward(options, make_generator(3));
  options.inner_dropout = 0;
  const auto whole = options.feed_forward(options, make_generator(3));
  const auto x = tokens(at::kFloat);
  CHECK(apart(part->forward(x), whole->forward(x)) > 1e-3);
  part->eval();
  CHECK(at::equal(part->forward(x), whole->forward(x)));
}

TEST_CASE("a block without a fused form uses plain operators, bit by bit; a fused form differs by rounding") {
  struct Case {
    const char *norm, *feed_forward, *activation;
    bool has_form;
  };
  for (const auto& [norm, feed_forward, activation, has_form] : {Case{"layer", "mlp", "gelu", true},
                                                                 {"layer", "mlp", "silu", false},
                                                                 {"rms", "mlp", "gelu", false},
                                                                 {"layer", "gated", "silu", false},
                                                                 {"rms", "gated", "gelu", false}}) {
    INFO(norm << " " << feed_forward << " " << activation);
    auto options = options_of(norm, feed_forward, activation);
    const auto x = tokens(at::kFloat);
    const auto fused = run(*block_of(options, at::kFloat), x);
    options.kernels = kernels::Choice::kReference;
    const auto reference = run(*block_of(options, at::kFloat), x);
    const auto exact = run(*block_of(options, at::kDouble), x.to(at::kDouble));
    CHECK(apart(fused.to(at::kDouble), exact) < 1e-4);
    CHECK(at::equal(fused, reference) == (!has_form || kernels::instructions().empty()));
  }
}

TEST_CASE("a block applies the RMS norm before its part, or behind the residual") {
  for (const bool first : {true, false}) {
    auto options = options_of("rms", "gated", "silu");
    options.norm_first = first;
    const auto block = block_of(options, at::kDouble);
    const auto x = tokens(at::kDouble);
    const auto gain1 = weight(*block, "norm1.weight"), gain2 = weight(*block, "norm2.weight");
    const auto part = [&](const Tensor& of) { return gated(*block, "feed_forward.", of, true); };
    const auto y = rms(x, gain1);
    const auto pre = x + part(rms(x, gain2)), post = rms(y + part(y), gain2);
    CHECK(apart(run(*block, x), first ? pre : post) < 1e-12);
    CHECK(apart(pre, post) > 0.1);
  }
}
