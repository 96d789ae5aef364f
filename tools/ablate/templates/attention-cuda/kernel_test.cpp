// Compares kernel.cu, run on a CPU, with a plain loop in double precision. Behaviour that CUDA leaves undefined ends the test:
// a barrier or a shuffle that not all lanes reach, too much shared memory. -fsanitize=address finds accesses out of bounds.
#include "kernel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <random>
#include <vector>

#include "ablate/cuda/block.h"

namespace {

using ablate::shim::Order;

struct Case {
  std::int64_t rows, keys, rows_each;
  bool with_hidden;
};

/// Returns the largest difference of weights and gradients from a double-precision loop. The result must not depend on `order`.
double worst(const Case& of, Order order) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> scores(of.rows * of.keys), d_weights(scores.size()), weights(scores.size()), d_scores(scores.size());
  for (auto* numbers : {&scores, &d_weights})
    for (auto& number : *numbers) number = normal(random);
  const auto lines = of.rows / of.rows_each;
  const auto hidden = std::make_unique<bool[]>(lines * of.keys);
  for (std::int64_t i = 0; i < lines * of.keys; ++i) hidden[i] = i < of.keys || random() % 3 == 0;  // line 0 hides all
  const bool* hides = of.with_hidden ? hidden.get() : nullptr;
  ablate::shim::set_order(order);
  if (my_method::softmax(scores.data(), hides, weights.data(), of.rows, of.keys, of.rows_each, nullptr) != nullptr ||
      my_method::softmax_gradient(weights.data(), d_weights.data(), d_scores.data(), of.rows, of.keys, nullptr) != nullptr)
    return INFINITY;
  double most = 0;
  for (std::int64_t row = 0; row < of.rows; ++row) {
    std::vector<double> expected(of.keys, 0);
    double sum = 0, product = 0;
    for (std::int64_t key = 0; key < of.keys; ++key) {
      if (hides != nullptr && hides[row / of.rows_each * of.keys + key]) continue;
      sum += expected[key] = std::exp(static_cast<double>(scores[row * of.keys + key]));
    }
    for (std::int64_t key = 0; key < of.keys; ++key) {
      if (sum > 0) expected[key] /= sum;
      product += expected[key] * d_weights[row * of.keys + key];
    }
    for (std::int64_t key = 0; key < of.keys; ++key) {
      const auto at = row * of.keys + key;
      const double gradient = expected[key] * (d_weights[at] - product);
      // The larger of the two, or NaN if either is NaN.
      for (const double error : {std::abs(weights[at] - expected[key]), std::abs(d_scores[at] - gradient)})
        if (!(error <= most)) most = error;
    }
  }
  return most;
}

}  // namespace

int main() {
  int failed = 0;
  for (const auto& of : {Case{1, 1, 1, false}, {6, 31, 3, true}, {8, 32, 2, true}, {9, 33, 9, false}, {40, 100, 10, true}})
    for (const auto order : {Order::kAscending, Order::kDescending, Order::kShuffled}) {
      const double found = worst(of, order);
      if (found <= 2e-6) continue;
      std::printf("%ld rows of %ld keys%s: found an error of %g, expected 2e-6 at most\n", static_cast<long>(of.rows),
                  static_cast<long>(of.keys), of.with_hidden ? ", some hidden" : "", found);
      ++failed;
    }
  return failed == 0 ? 0 : 1;
}
