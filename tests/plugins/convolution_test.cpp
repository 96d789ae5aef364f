// Strided convolution against its sum, ragged and masked, with gradients, and the rates that it accepts.
#include <torch/csrc/autograd/autograd.h>

#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

TEST_CASE(
    "each slot is W [x_jk; ...] + b over its segment, with zeros after the last token, and has this equation's gradients") {
  constexpr std::int64_t k = 3, n = 11, d = 4;
  const auto compression = make(section("convolution"), {{1, k}}, 2, d, 64);
  const auto weight = parameter(*compression, "weight"), bias = parameter(*compression, "bias");
  REQUIRE(weight.sizes() == ablate::IntArrayRef({2, d, k * d}));
  auto keys = normal({2, 2, n, d}, 1).requires_grad_(), values = normal({2, 2, n, d}, 2).requires_grad_();
  const auto mask = mask_of(n, {n, 5});
  const auto memory = write(*compression, keys, values, mask);
  REQUIRE(memory.values.size(2) == 4);
  const std::vector<std::int64_t> lengths = {n, 5};
  auto expected = ablate::zeros_like(memory.values);
  std::vector<Tensor> all;
  for (const auto& x : {keys, values})
    for (std::int64_t i = 0; i < 2; ++i)
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t j = 0; j < 4; ++j) {
          if (j * k >= lengths[i]) {
            all.push_back(ablate::zeros({d}, ablate::kDouble));
            continue;
          }
          auto sum = bias[h][0];
          for (std::int64_t t = 0; t < k && j * k + t < lengths[i]; ++t)
            sum = sum + weight[h].narrow(1, t * d, d).matmul(x[i][h][j * k + t]);
          all.push_back(sum);
        }
  expected = ablate::stack(all).view({2, 2, 2, 4, d});
  const auto found = ablate::stack(std::vector{memory.keys, memory.values});
  const auto factor = normal(found.sizes(), 3);
  CHECK(distance(found, expected) < 1e-13);
  const std::vector<Tensor> of = {keys, values, weight, bias};
  const auto a = torch::autograd::grad({(found * factor).sum()}, of),
             b = torch::autograd::grad({(expected * factor).sum()}, of);
  for (std::size_t i = 0; i < of.size(); ++i) CHECK(distance(a[i], b[i]) < 1e-12);
}

TEST_CASE("a convolution refuses a rate that is not a whole stride") {
  CHECK_THROWS_WITH(make(section("convolution"), {{2, 5}}, 2, 4, 64), Catch::Matchers::Contains("choose a rate of 1/k"));
}
