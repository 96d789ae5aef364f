// Learned mixtures of positions equal weighted sums, the identity gives the sequence itself, and padding has no effect.
#include "tests/plugins/attention.h"
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Slots;
using ablate::Tensor;

TEST_CASE("projection equals E x of an item's rows and columns, with gradients") {
  for (const auto& slots : {Slots{{1, 3}}, Slots{.fixed = 4}}) {
    const auto compression = make(section("projection"), slots, 2, 3, 20);
    const auto e = parameter(*compression, "weight");
    REQUIRE(e.sizes() == ablate::IntArrayRef({slots.of(20), 20}));
    const auto mask = mask_of(13, {13, 7, 0});
    const auto keys = normal({3, 2, 13, 3}, 1).requires_grad_(), values = normal({3, 2, 13, 3}, 2).requires_grad_();
    const auto hole = mask.logical_not().unsqueeze(1).unsqueeze(-1);
    const auto memory = write(*compression, keys.masked_fill(hole, NAN), values.masked_fill(hole, NAN), mask);
    const auto weights = normal({2, slots.of(13), 3}, 3);
    auto loss = ablate::zeros({}, ablate::kDouble), right = loss.clone();
    for (const auto& [item, length] : {std::pair<std::int64_t, std::int64_t>{0, 13}, {1, 7}, {2, 0}}) {
      const auto count = slots.fixed > 0 && length == 0 ? 0 : slots.of(length), all = slots.of(13);
      for (const auto& [found, x] : {std::pair{memory.keys, keys}, std::pair{memory.values, values}}) {
        std::vector<Tensor> rows(static_cast<std::size_t>(all), ablate::zeros({2, 3}, ablate::kDouble));
        for (std::int64_t j = 0; j < count; ++j)
          for (std::int64_t p = 0; p < length; ++p) {
            auto& row = rows[static_cast<std::size_t>(j)];
            row = row + e[j][p] * x[item].select(1, p);
          }
        const auto expected = ablate::stack(rows, 1);
        CHECK(distance(found[item], expected) < 1e-13);
        loss = loss + (found[item] * weights).sum();
        right = right + (expected * weights).sum();
      }
      CHECK(memory.mass[item].sum().item<double>() == static_cast<double>(count));
    }
    CHECK(distance(gradients(*compression, loss, {keys, values}), gradients(*compression, right, {keys, values})) < 1e-12);
  }
}

TEST_CASE("compressed with an identity projection equals softmax") {
  const auto compressed = make(section("compressed", {{"rate", "1"}, {"compression", {{"plugin", "projection"}}}}));
  const auto softmax = make(section("softmax"));
  copy_parameters(*compressed, *softmax);
  const auto e = parameter(*compressed, "compression.weight");
  {
    const ablate::NoGradGuard none;
    e.zero_();
    e.diagonal().fill_(1);
  }
  const auto x = random_tokens(2, 12, 2);
  const auto mask = mask_of(12, {12, 7});
  const auto real = mask.unsqueeze(-1);
  CHECK(distance(run(*compressed, {.queries = x, .mask = mask}) * real, run(*softmax, {.queries = x, .mask = mask}) * real) <
        1e-13);
}
