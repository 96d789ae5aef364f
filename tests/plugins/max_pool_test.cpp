// Max pooling against a plain loop: ragged, masked and with fixed slots, with negative numbers and padding.
#include <torch/csrc/autograd/autograd.h>

#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Rate;
using ablate::Slots;
using ablate::Tensor;

namespace {

/// Returns the slot of an item's token at position p.
std::int64_t slot_of(const Slots& slots, std::int64_t p, std::int64_t length) {
  if (slots.fixed == 0) return slots.rate.slot_of(p);
  return length < slots.fixed ? p : p * slots.fixed / length;
}

}  // namespace

TEST_CASE("max-pool equals the largest value of each channel in a segment, by a plain loop, with gradients") {
  for (const auto& slots : {Slots{{1, 1}}, Slots{{1, 3}}, Slots{{2, 5}}, Slots{{3, 4}}, Slots{{1, 64}}, Slots{.fixed = 4}})
    for (const std::int64_t n : {1, 5, 12, 65})
      for (const bool masked : {false, true}) {
        const auto lengths = masked ? std::vector<std::int64_t>{n, (n + 1) / 2, 0} : std::vector<std::int64_t>(3, n);
        const auto mask = masked ? mask_of(n, lengths) : Tensor();
        // All numbers are below 0, so a zero from the padding would be the largest.
        auto keys = normal({3, 2, n, 3}, 1) - 5, values = normal({3, 2, n, 4}, 2) - 5;
        if (masked)
          for (auto* x : {&keys, &values}) *x = x->masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), NAN);
        keys.requires_grad_(), values.requires_grad_();
        const auto memory = write(*make(section("max-pool"), slots, 2, 3, 256), keys, values, mask);
        double worst = 0;
        auto loss = ablate::zeros({}, ablate::kDouble), right = loss.clone();
        for (std::int64_t i = 0; i < 3; ++i)
          for (std::int64_t j = 0; j < slots.of(n); ++j) {
            auto key = ablate::full({2, 3}, -1e30, ablate::kDouble), value = ablate::full({2, 4}, -1e30, ablate::kDouble);
            std::int64_t count = 0;
            for (std::int64_t p = 0; p < lengths[i]; ++p) {
              if (slot_of(slots, p, lengths[i]) != j) continue;
              key = key.maximum(keys[i].select(1, p));
              value = value.maximum(values[i].select(1, p));
              ++count;
            }
            if (count == 0) key = key * 0, value = value * 0;
            const auto weigh = [&](const Tensor& of_key, const Tensor& of_value) {
              return ((of_key * normal({2, 3}, 3)).sum() + (of_value * normal({2, 4}, 4)).sum()) * static_cast<double>(j + 1);
            };
            loss = loss + weigh(memory.keys[i].select(1, j), memory.values[i].select(1, j));
            right = right + weigh(key, value);
            worst = std::max({worst, distance(memory.keys[i].select(1, j), key), distance(memory.values[i].select(1, j), value),
                              std::abs(memory.mass[i][0][j].item<double>() - static_cast<double>(count))});
          }
        INFO("rate " << slots.rate.numerator << "/" << slots.rate.denominator << ", fixed " << slots.fixed << ", n " << n
                     << ", masked " << masked);
        CHECK(worst == 0);
        const auto a = torch::autograd::grad({loss}, {keys, values}), b = torch::autograd::grad({right}, {keys, values});
        CHECK(std::max(distance(a[0], b[0]), distance(a[1], b[1])) < 1e-12);
      }
}
