// Segment means against a plain loop, and the read of landmarks against explicit weights.
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "tests/plugins/compression.h"
#include "tests/support/catch.h"
#include "tests/support/other_threads.h"

namespace {

using namespace ablate::test;
using ablate::Memory;
using ablate::Rate;
using ablate::Similarity;
using ablate::Slots;
using ablate::Tensor;

/// Returns sum_j mass_j sim(q, k_j) v_j / sum_j mass_j sim(q, k_j), with a weight for every slot.
Tensor plain_read(const Tensor& q, const Memory& memory, Similarity similarity) {
  const auto map = [&](const Tensor& x) { return similarity == Similarity::kRelu ? x.relu() : ablate::elu(x) + 1; };
  auto weights = similarity == Similarity::kSoftmax
                     ? (q.matmul(memory.keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(-1)))).exp()
                     : map(q).matmul(map(memory.keys).transpose(-1, -2));
  weights = weights * memory.mass.unsqueeze(-2);
  const auto sum = weights.sum(-1, true);
  return weights.matmul(memory.values) / sum.masked_fill(sum <= 0, 1);
}

}  // namespace

TEST_CASE("segment means equal a plain loop") {
  const auto plugin = section("segment-mean");
  for (const auto rate :
       {Rate{1, 1}, Rate{1, 2}, Rate{1, 3}, Rate{2, 5}, Rate{3, 4}, Rate{1, 64}, Rate{311, 1000}, Rate{999, 1000}})
    for (const std::int64_t n : {1, 5, 12, 64, 65, 130})
      for (const bool masked : {false, true}) {
        const std::vector<std::int64_t> lengths =
            masked ? std::vector<std::int64_t>{n, n / 2, 0, (2 * n + 2) / 3} : std::vector<std::int64_t>(4, n);
        const auto keys = normal({4, 2, n, 3}, 1), values = normal({4, 2, n, 5}, 2);
        const auto memory = write(*make(plugin, {rate}, 2, 3, 256), keys, values, masked ? mask_of(n, lengths) : Tensor());
        INFO("rate " << rate.numerator << "/" << rate.denominator << ", n " << n << ", masked " << masked);
        REQUIRE(memory.values.size(2) == rate.slots(n));
        double worst = 0;
        for (std::int64_t i = 0; i < 4; ++i)
          for (std::int64_t slot = 0; slot < rate.slots(n); ++slot) {
            auto key = ablate::zeros({2, 3}, ablate::kDouble), value = ablate::zeros({2, 5}, ablate::kDouble);
            double count = 0;
            for (std::int64_t p = 0; p < lengths[i]; ++p) {
              if (rate.slot_of(p) != slot) continue;
              key += keys[i].select(1, p);
              value += values[i].select(1, p);
              count += 1;
            }
            const double divisor = std::max(count, 1.0);
            worst = std::max({worst, distance(memory.keys[i].select(1, slot), key / divisor),
                              distance(memory.values[i].select(1, slot), value / divisor),
                              std::abs(memory.mass[i][0][slot].item<double>() - count)});
          }
        CHECK(worst < 1e-12);
      }
}

TEST_CASE("a landmark counts once for each of its tokens") {
  const auto segment_mean = make(section("segment-mean"), {{1, 4}}, 2, 6, 64);
  // Every token occurs four times, but the last token twice. So the 5 means must give attention over all 18 tokens.
  const auto distinct_keys = normal({3, 2, 5, 6}, 1), distinct_values = normal({3, 2, 5, 6}, 2),
             queries = normal({3, 2, 7, 6}, 3);
  const auto keys = distinct_keys.repeat_interleave(4, 2).narrow(2, 0, 18);
  const auto values = distinct_values.repeat_interleave(4, 2).narrow(2, 0, 18);
  const Memory tokens{.keys = keys, .values = values, .mass = ablate::ones({3, 1, 18}, ablate::kDouble)};
  const auto memory = write(*segment_mean, keys, values);
  REQUIRE(memory.values.size(2) == 5);
  for (const auto similarity : {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu})
    CHECK(distance(read(*segment_mean, queries, memory, similarity), plain_read(queries, tokens, similarity)) < 1e-12);
}

TEST_CASE("landmark reads equal explicit weights, ragged and masked") {
  const auto segment_mean = make(section("segment-mean"), {{2, 5}}, 2, 6, 64);
  const auto keys = normal({4, 2, 13, 6}, 1), values = normal({4, 2, 13, 6}, 2), queries = normal({4, 2, 7, 6}, 3);
  for (const auto& mask : {Tensor(), mask_of(13, {13, 8, 1, 0})}) {
    const auto memory = write(*segment_mean, keys, values, mask);
    for (const auto similarity : {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu}) {
      CHECK(distance(read(*segment_mean, queries, memory, similarity), plain_read(queries, memory, similarity)) < 1e-12);
      const auto single = Memory{.keys = memory.keys.to(ablate::kFloat),
                                 .values = memory.values.to(ablate::kFloat),
                                 .mass = memory.mass.to(ablate::kFloat),
                                 .slots = memory.slots};
      CHECK(distance(read(*segment_mean, queries.to(ablate::kFloat), single, similarity).to(ablate::kDouble),
                     plain_read(queries, memory, similarity)) < 1e-5);
    }
  }
}

TEST_CASE("a relu query with weight 0 for every key reads 0, and its gradients are finite") {
  const auto segment_mean = make(section("segment-mean"), {{1, 2}}, 1, 2, 8);
  const auto keys =
      (ablate::integers(std::vector<std::int64_t>{1, -1, 2, -3}).to(ablate::kDouble)).view({1, 1, 2, 2}).requires_grad_();
  const auto queries =
      (ablate::integers(std::vector<std::int64_t>{-1, 4}).to(ablate::kDouble)).view({1, 1, 1, 2}).requires_grad_();
  const auto output = read(*segment_mean, queries, write(*segment_mean, keys, keys), Similarity::kRelu);
  CHECK(output.abs().max().item<double>() == 0);
  output.sum().backward();
  CHECK(queries.grad().isfinite().all().item<bool>());
  CHECK(keys.grad().isfinite().all().item<bool>());
}

TEST_CASE("a fixed number of slots divides each item's own length into segments") {
  for (const std::int64_t m : {1, 5, 16})
    for (const std::int64_t n : {1, 5, 13, 32, 40})
      for (const bool masked : {false, true}) {
        const std::vector<std::int64_t> lengths =
            masked ? std::vector<std::int64_t>{n, n / 2, 0, (2 * n + 2) / 3} : std::vector<std::int64_t>(4, n);
        const auto keys = normal({4, 2, n, 3}, 1).requires_grad_(), values = normal({4, 2, n, 5}, 2);
        const auto mask = masked ? mask_of(n, lengths) : Tensor();
        const auto memory = write(*make(section("segment-mean"), {.fixed = m}, 2, 3, 64), keys, values, mask);
        INFO("slots " << m << ", n " << n << ", masked " << masked);
        REQUIRE(memory.values.size(2) == m);
        CHECK_FALSE(memory.slots.defined());
        double worst = 0;
        std::vector<Tensor> expected_keys;
        for (std::int64_t i = 0; i < 4; ++i)
          for (std::int64_t slot = 0; slot < m; ++slot) {
            auto key = ablate::zeros({2, 3}, ablate::kDouble), value = ablate::zeros({2, 5}, ablate::kDouble);
            double count = 0;
            for (std::int64_t p = 0; p < lengths[i]; ++p) {
              if ((lengths[i] >= m ? p * m / lengths[i] : p) != slot) continue;
              key = key + keys[i].select(1, p);
              value = value + values[i].select(1, p);
              count += 1;
            }
            const double divisor = std::max(count, 1.0);
            expected_keys.push_back(key / divisor);
            worst = std::max({worst, distance(memory.keys[i].select(1, slot), key / divisor),
                              distance(memory.values[i].select(1, slot), value / divisor),
                              std::abs(memory.mass[i][0][slot].item<double>() - count)});
          }
        CHECK(worst < 1e-12);
        const auto expected = ablate::stack(expected_keys).view({4, m, 2, 3}).transpose(1, 2);
        const auto weights = normal({4, 2, m, 3}, 5);
        const auto gradient = [&](const Tensor& found) { return torch::autograd::grad({(found * weights).sum()}, {keys})[0]; };
        CHECK(distance(gradient(memory.keys), gradient(expected)) < 1e-12);
      }
}

TEST_CASE("a causal read equals a read of the sequence up to the complete slots") {
  const std::int64_t n = 21, offset = 2;
  for (const auto rate : {Rate{1, 1}, Rate{1, 4}, Rate{2, 5}, Rate{3, 4}})
    for (const auto similarity : {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu})
      for (const bool masked : {false, true}) {
        const auto segment_mean = make(section("segment-mean"), {rate}, 2, 6, 64);
        const std::vector<std::int64_t> lengths =
            masked ? std::vector<std::int64_t>{n, 10, 1} : std::vector<std::int64_t>(3, n);
        const auto mask = masked ? mask_of(n, lengths) : Tensor();
        auto keys = normal({3, 2, n, 6}, 1).requires_grad_(), values = normal({3, 2, n, 6}, 2).requires_grad_();
        auto queries = normal({3, 2, n - offset, 6}, 3).requires_grad_();
        const auto memory = write(*segment_mean, keys, values, mask);
        REQUIRE(memory.last.size(0) == rate.slots(n));
        const auto found =
            segment_mean
                ->read({.queries = queries, .memory = memory, .similarity = similarity, .causal = true, .offset = offset})
                .values;
        std::vector<Tensor> rows;
        for (std::int64_t q = 0; q < n - offset; ++q) {
          std::int64_t complete = 0;  // tokens of segments that end at the query's position or before it
          for (std::int64_t p = 0; p <= offset + q; ++p)
            if (rate.slot_of(p + 1) != rate.slot_of(p)) complete = p + 1;
          const auto row = queries.narrow(2, q, 1);
          rows.push_back(complete == 0 ? row * 0
                                       : read(*segment_mean, row,
                                              write(*segment_mean, keys.narrow(2, 0, complete), values.narrow(2, 0, complete),
                                                    masked ? mask.narrow(1, 0, complete) : Tensor()),
                                              similarity));
        }
        INFO("rate " << rate.numerator << "/" << rate.denominator << ", similarity " << static_cast<int>(similarity)
                     << ", masked " << masked);
        // Outputs of padded queries do not count.
        const auto real = (masked ? mask : mask_of(n, lengths)).narrow(1, offset, n - offset).view({3, 1, n - offset, 1});
        const auto expected = ablate::cat(rows, 2) * real;
        CHECK(distance(found * real, expected) < 1e-12);
        const auto weights = normal({3, 2, n - offset, 6}, 5) * real;
        const auto gradients = [&](const Tensor& output) {
          return torch::autograd::grad({(output * weights).sum()}, {queries, keys, values});
        };
        const auto a = gradients(found), b = gradients(expected);
        for (std::size_t i = 0; i < 3; ++i) CHECK(distance(a[i], b[i]) < 1e-11);
      }
}

TEST_CASE("a causal read weights keys far below 0 by e^x, and weights that underflow are 0") {
  const auto segment_mean = make(section("segment-mean"), {{1, 2}}, 1, 4, 16);
  const auto values = normal({2, 1, 16, 4}, 2);
  const auto causal = [&](const Tensor& x, bool whole) {
    const auto memory = write(*segment_mean, x, values);
    // All slots of the last query are complete, so the query has the same result without `causal`.
    return segment_mean->read({.queries = x, .memory = memory, .similarity = Similarity::kElu, .causal = !whole})
        .values.narrow(2, 15, 1);
  };
  const auto far = normal({2, 1, 16, 4}, 1) - 20, none = (normal({2, 1, 16, 4}, 1) - 200).requires_grad_();
  const auto memory = write(*segment_mean, far, values);
  const auto weights = far.narrow(2, 15, 1).exp().matmul(memory.keys.exp().transpose(-1, -2));
  const auto expected = weights.matmul(memory.values) / weights.sum(-1, true);
  for (const bool whole : {false, true}) {
    CHECK(distance(causal(far, whole), expected) < 1e-12);
    const auto read = causal(none, whole);
    CHECK(read.abs().max().item<double>() == 0);
    CHECK(torch::autograd::grad({read.sum()}, {none})[0].isfinite().all().item<bool>());
  }
}

TEST_CASE("two threads share segments and change no bit") {
  const auto segment_mean = make(section("segment-mean"), {{1, 16}}, 2, 32, 1 << 16);
  const auto keys = normal({16, 2, 1 << 14, 32}, 1).to(ablate::kFloat).requires_grad_();
  const auto before = at::get_num_threads();
  std::vector<Tensor> found;
  for (const int threads : {1, 2}) {
    at::set_num_threads(threads);
    Memory memory;
    const auto forward = ablate::test::share_of_other_threads([&] { memory = write(*segment_mean, keys, keys.detach()); });
    found.push_back(memory.keys.detach());
    const auto of = ablate::ones(memory.keys.sizes());
    const auto backward =
        ablate::test::share_of_other_threads([&] { found.push_back(torch::autograd::grad({memory.keys}, {keys}, {of})[0]); });
    if (threads == 1) continue;
    CHECK(forward > 0.2);
    CHECK(backward > 0.2);
  }
  at::set_num_threads(before);
  CHECK(found[0].equal(found[2]));
  CHECK(found[1].equal(found[3]));
}
