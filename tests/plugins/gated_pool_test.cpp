// Gated pooling against a plain loop: ragged, masked, with fixed slots and overlap. With gates of 0 it equals segment means.
#include "tests/plugins/attention.h"
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Slots;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2, kHead = 3;

/// Returns the slot of token p of an item.
std::int64_t segment_of(const Slots& slots, std::int64_t p, std::int64_t length) {
  if (slots.fixed == 0) return slots.rate.slot_of(p);
  return length < slots.fixed ? p : p * slots.fixed / length;
}

enum class Wrong { kNothing, kGateOfAHead, kNoPlaces, kTwoMeans };

/// Returns slot j of one head: the mean of x [length, d] over segment j (with overlap also j - 1), with weights by channel.
Tensor slot(const ablate::Compression& compression, const Slots& slots, std::int64_t head, std::int64_t j, const Tensor& x,
            bool overlap, Wrong wrong) {
  std::vector<Tensor> gates, tokens;
  std::size_t of_before = 0;
  for (const auto segment : {j - 1, j}) {
    if (segment < j && !overlap) continue;
    std::int64_t place = 0;
    for (std::int64_t p = 0; p < x.size(0); ++p) {
      if (segment_of(slots, p, x.size(0)) != segment) continue;
      const std::string of = segment < j ? "before_" : "";
      auto gate = parameter(compression, of + "weight")[head].matmul(x[p]);
      if (wrong == Wrong::kGateOfAHead) gate = gate.mean().expand({kHead});
      if (wrong != Wrong::kNoPlaces) gate = gate + parameter(compression, of + "bias")[head][place];
      gates.push_back(gate), tokens.push_back(x[p]);
      ++place;
    }
    if (segment < j) of_before = tokens.size();
  }
  if (tokens.size() == of_before) return ablate::zeros({kHead}, ablate::kDouble);
  const auto mean = [&](std::size_t begin, std::size_t end) {
    auto sum = ablate::zeros({kHead}, ablate::kDouble), total = sum.clone();
    for (auto t = begin; t < end; ++t) sum = sum + gates[t].exp() * tokens[t], total = total + gates[t].exp();
    return sum / total;
  };
  if (wrong == Wrong::kTwoMeans && of_before > 0) return (mean(0, of_before) + mean(of_before, tokens.size())) / 2;
  return mean(0, tokens.size());
}

/// Makes a gated pooling with nonzero biases, as after training.
std::shared_ptr<ablate::Compression> gated_pool(const Slots& slots, bool overlap, std::int64_t max_length = 80) {
  const auto compression = make(section("gated-pool", {{"overlap", overlap}}), slots, kHeads, kHead, max_length);
  const ablate::NoGradGuard none;
  for (auto& entry : compression->parameters())
    if (entry.name.ends_with("bias")) entry.tensor.copy_(normal(entry.tensor.sizes(), 5));
  return compression;
}

}  // namespace

TEST_CASE("gated-pool equals a plain loop over a segment, with overlap also over the previous segment, with gradients") {
  for (const bool overlap : {false, true})
    for (const auto& slots : {Slots{{1, 1}}, Slots{{1, 3}}, Slots{{2, 5}}, Slots{{3, 4}}, Slots{{1, 64}}, Slots{.fixed = 4}})
      for (const std::int64_t n : {1, 5, 12, 65})
        for (const bool masked : {false, true}) {
          const auto lengths = masked ? std::vector<std::int64_t>{n, (n + 1) / 2, 0} : std::vector<std::int64_t>(3, n);
          const auto mask = masked ? mask_of(n, lengths) : Tensor();
          auto keys = normal({3, kHeads, n, kHead}, 1), values = normal({3, kHeads, n, kHead}, 2);
          if (masked)
            for (auto* x : {&keys, &values}) *x = x->masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), NAN);
          keys.requires_grad_(), values.requires_grad_();
          const auto compression = gated_pool(slots, overlap);
          const auto memory = write(*compression, keys, values, mask);
          const auto expected = [&](const Tensor& x, Wrong wrong) {
            std::vector<Tensor> all;
            for (std::int64_t i = 0; i < 3; ++i)
              for (std::int64_t h = 0; h < kHeads; ++h)
                for (std::int64_t j = 0; j < slots.of(n); ++j)
                  all.push_back(slot(*compression, slots, h, j, x[i][h].narrow(0, 0, lengths[static_cast<std::size_t>(i)]),
                                     overlap, wrong));
            return ablate::stack(all).view({3, kHeads, slots.of(n), kHead});
          };
          INFO("overlap " << overlap << ", rate " << slots.rate.numerator << "/" << slots.rate.denominator << ", fixed "
                          << slots.fixed << ", n " << n << ", masked " << masked);
          const auto right_keys = expected(keys, Wrong::kNothing), right_values = expected(values, Wrong::kNothing);
          CHECK(distance(memory.keys, right_keys) < 1e-13);
          CHECK(distance(memory.values, right_values) < 1e-13);
          for (std::int64_t i = 0; i < 3; ++i)
            for (std::int64_t j = 0; j < slots.of(n); ++j) {
              double count = 0;
              for (std::int64_t p = 0; p < lengths[static_cast<std::size_t>(i)]; ++p)
                count += segment_of(slots, p, lengths[static_cast<std::size_t>(i)]) == j ? 1 : 0;
              CHECK(memory.mass[i][0][j].item<double>() == count);
            }
          const auto factor = normal(right_keys.sizes(), 3);
          const auto loss = [&](const Tensor& k, const Tensor& v) { return (k * factor).sum() + (v * factor * factor).sum(); };
          CHECK(distance(gradients(*compression, loss(memory.keys, memory.values), {keys, values}),
                         gradients(*compression, loss(right_keys, right_values), {keys, values})) < 1e-11);
          if (n < 12 || slots.rate == ablate::Rate{1, 1}) continue;
          CHECK(distance(memory.keys, expected(keys, Wrong::kGateOfAHead)) > 1e-3);
          CHECK(distance(memory.keys, expected(keys, Wrong::kNoPlaces)) > 1e-3);
          if (overlap && slots.of(n) > 1) CHECK(distance(memory.keys, expected(keys, Wrong::kTwoMeans)) > 1e-3);
        }
}

TEST_CASE("gated-pool with equal gates equals segment-mean, and its bias starts at 0") {
  for (const auto& slots : {Slots{{1, 3}}, Slots{{2, 5}}, Slots{.fixed = 4}}) {
    const auto compression = make(section("gated-pool"), slots, kHeads, kHead, 80);
    CHECK(parameter(*compression, "bias").abs().max().item<double>() == 0);
    const ablate::NoGradGuard none;
    parameter(*compression, "weight").zero_();
    const auto mean = make(section("segment-mean"), slots, kHeads, kHead, 80);
    const auto keys = normal({2, kHeads, 23, kHead}, 1), values = normal({2, kHeads, 23, kHead}, 2);
    const auto mask = mask_of(23, {23, 8});
    const auto found = write(*compression, keys, values, mask), right = write(*mean, keys, values, mask);
    CHECK(distance(found.keys, right.keys) < 1e-14);
    CHECK(distance(found.values, right.values) < 1e-14);
    CHECK(distance(found.mass, right.mass.expand_as(found.mass)) == 0);
    CHECK(found.last.equal(right.last));
  }
}

TEST_CASE("gated-pool with overlap: a slot reads the previous segment, but no earlier or later segment") {
  const auto compression = gated_pool({{1, 4}}, true);
  const auto x = normal({1, kHeads, 16, kHead}, 1);
  const auto whole = write(*compression, x, x).keys;
  for (std::int64_t segment = 0; segment < 4; ++segment) {
    auto other = x.clone();
    other.narrow(2, segment * 4, 4).mul_(-1);
    const auto changed = write(*compression, other, other).keys;
    for (std::int64_t j = 0; j < 4; ++j)
      CHECK((distance(changed.select(2, j), whole.select(2, j)) > 0) == (j == segment || j == segment + 1));
  }
}

TEST_CASE("gated-pool refuses other numbers of heads and channels than it was made for") {
  const auto compression = gated_pool({{1, 4}}, false);
  const auto x = normal({1, 1, 8, kHead}, 1);
  CHECK_THROWS_WITH(write(*compression, x, x),
                    Catch::Matchers::Contains("made for 2 heads of 3 channels, and was given 1 of 3"));
}
