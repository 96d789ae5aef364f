// A loss in pieces equals the loss of all logits.
#include <ATen/ATen.h>

#include "core/trial/device/tensor_memory.h"
#include "core/trial/model/head.h"
#include "tests/trial/majority.h"

using namespace ablate;
using namespace ablate::tests;
using nlohmann::json;

namespace {

struct Layer {
  Tensor rows, weight, bias, targets;

  Layer(std::int64_t targets_count, std::int64_t classes, at::ScalarType type, std::int64_t width = 8)
      : rows(at::randn({targets_count, width}).to(type).requires_grad_()),
        weight(at::randn({classes, width}).to(type).requires_grad_()),
        bias(at::randn({classes}).to(type).requires_grad_()),
        targets(at::randint(0, classes, {targets_count}, at::kLong)) {}

  Logits whole() const { return linear(rows, weight, bias); }
  Logits pieces(std::int64_t piece) const { return {rows, weight, bias, piece}; }
  /// Returns the gradients of three times the loss, so that the gradient that the loss receives is 3, not 1.
  std::vector<Tensor> gradients(const Logits& logits) const {
    for (const auto& one : {rows, weight, bias}) one.mutable_grad().reset();
    (3 * logits.mean_loss(targets)).backward();
    return {rows.grad().clone(), weight.grad().clone(), bias.grad().clone()};
  }
};

}  // namespace

TEST_CASE("a loss in pieces equals the plain loss, in value and gradients") {
  for (const auto& [type, tolerance] : {std::pair{at::kDouble, 1e-12}, {at::kFloat, 1e-5}, {at::kBFloat16, 2e-2}}) {
    const Layer layer(23, 57, type);
    const auto expected = layer.gradients(layer.whole());
    for (const std::int64_t piece : {1, 5, 23, 1000}) {
      INFO(at::toString(type) << ", pieces of " << piece);
      const auto logits = layer.pieces(piece);
      CHECK(logits.mean_loss(layer.targets).item<double>() ==
            Approx(layer.whole().mean_loss(layer.targets).item<double>()).epsilon(tolerance));
      const auto found = layer.gradients(logits);
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(at::allclose(found[i], expected[i], tolerance, tolerance));
    }
  }
}

TEST_CASE("answers in pieces equal the plain answers") {
  const Layer layer(23, 57, at::kFloat);
  const NoGradGuard no_grad;
  const auto expected = layer.whole().answers(layer.targets, true);
  for (const std::int64_t piece : {1, 5, 23, 1000}) {
    const auto found = layer.pieces(piece).answers(layer.targets, true);
    CHECK(at::equal(found.predicted, expected.predicted));
    CHECK(at::allclose(found.losses, expected.losses));
    CHECK(found.loss == Approx(expected.loss));
    CHECK_FALSE(layer.pieces(piece).answers(layer.targets, false).losses.defined());
  }
}

TEST_CASE("with a large vocabulary, a loss in pieces needs the memory of one piece") {
  count_tensor_memory();
  constexpr std::int64_t kTargets = 512, kClasses = 20'000;
  const Layer layer(kTargets, kClasses, at::kFloat);
  const auto most = [&](bool in_pieces) {
    const auto before = tensor_bytes();
    reset_peak_tensor_bytes();
    layer.gradients(in_pieces ? layer.pieces(16) : layer.whole());
    return peak_tensor_bytes() - before;
  };
  const auto whole = most(false), pieces = most(true);
  const std::int64_t all = kTargets * kClasses * 4, weights = kClasses * 8 * 4;
  CHECK(whole > all);
  CHECK(pieces < 6 * 16 * kClasses * 4 + 6 * weights);  // a few pieces, and a few tensors of the weights' size
  CHECK(pieces < whole / 4);
}

TEST_CASE("a trial with a loss in pieces gives the same numbers") {
  const auto plain = run(json::object()), pieces = run({{"loss_piece", 7}});
  for (const char* name : {"train/loss", "dev/loss", "test/loss"})
    CHECK(pieces.result.values.at(name) == Approx(plain.result.values.at(name)).epsilon(0.02));
  CHECK(run({{"loss_piece", 0}}).result.values.at("test/loss") == plain.result.values.at("test/loss"));
}
