// Operations with their own gradient: the tensors that they save, their results, and their refusals.
#include "ablate/operation.h"

#include <torch/csrc/autograd/autograd.h>

#include "tests/support/catch.h"

using namespace ablate;

namespace {

/// Computes a * b. The gradient of `a` is 3 times too large, so that tests can see whether this gradient is used.
Tensor product(const Tensor& a, const Tensor& b, bool with_second = true) {
  return with_gradient(
      {a, b},
      [&](Saved& saved) {
        auto result = a * b;
        saved = {b, result, Tensor()};
        return result;
      },
      [with_second](const Tensor& gradient, const Saved& saved) -> std::vector<Tensor> {
        if (saved[2].defined()) throw std::logic_error("an undefined tensor has become one");
        if (!with_second) return {gradient};
        return {3 * gradient * saved[0], gradient * saved[1]};
      });
}

Tensor leaf(double value) { return full({2}, value, kDouble).requires_grad_(); }

}  // namespace

TEST_CASE("an operation has its own gradient, from inputs and results that it saved") {
  const auto a = leaf(2), b = leaf(5);
  const auto scaled = 7 * product(2 * a, b);
  CHECK(scaled.allclose(full({2}, 140, kDouble)));
  const auto gradients = torch::autograd::grad({scaled.sum()}, {a, b});
  CHECK(gradients[0].allclose(full({2}, 7 * 3 * 5 * 2, kDouble)));
  CHECK(gradients[1].allclose(full({2}, 7 * 20, kDouble)));
}

TEST_CASE("an operation on inputs without gradients records nothing") {
  const auto a = full({2}, 2, kDouble);
  CHECK_FALSE(product(a, a).requires_grad());
  NoGradGuard no_grad;
  CHECK_FALSE(product(leaf(2), a).requires_grad());
}

TEST_CASE("an input without gradients gets no gradient, and there must be as many gradients as inputs") {
  const auto a = leaf(2), fixed = full({2}, 5, kDouble);
  CHECK(torch::autograd::grad({product(a, fixed).sum()}, {a})[0].allclose(full({2}, 15, kDouble)));
  CHECK_THROWS_AS(torch::autograd::grad({product(a, fixed, false).sum()}, {a}), std::logic_error);
}

TEST_CASE("a graph is used once, unless it is retained") {
  const auto a = leaf(2);
  const auto retained = product(a, leaf(5)).sum();
  for (int i = 0; i < 2; ++i) CHECK(torch::autograd::grad({retained}, {a}, {}, true)[0].defined());
  torch::autograd::grad({retained}, {a});
  CHECK_THROWS(torch::autograd::grad({retained}, {a}));
}

TEST_CASE("a second derivative is refused, not left out") {
  const auto a = leaf(2), b = leaf(5);
  const auto result = product(a, b).sum();
  CHECK_THROWS_AS(torch::autograd::grad({result}, {a}, {}, true, true), std::runtime_error);
  CHECK(torch::autograd::grad({result}, {a})[0].defined());
}

TEST_CASE("an operation with several results computes only the requested gradients") {
  const auto a = leaf(2);
  const auto both = [&](bool second_is_asked) {
    return with_gradients(
        {a},
        [&](Saved&) {
          return std::vector{2 * a, 3 * a};
        },
        [second_is_asked](const std::vector<Tensor>& gradients, const Saved&) -> std::vector<Tensor> {
          if (gradients[1].defined() != second_is_asked) throw std::logic_error("found other gradients than requested");
          return {gradients[1].defined() ? 2 * gradients[0] + 3 * gradients[1] : 2 * gradients[0]};
        });
  };
  CHECK(torch::autograd::grad({both(false)[0].sum()}, {a})[0].allclose(full({2}, 2, kDouble)));
  const auto results = both(true);
  CHECK(torch::autograd::grad({results[0].sum() + results[1].sum()}, {a})[0].allclose(full({2}, 5, kDouble)));
  CHECK_THROWS_AS(torch::autograd::grad({both(true)[0].sum()}, {a}), std::logic_error);
}
