// Segment means against a plain loop, and the read of landmarks against weights written out.
#include <ATen/ops/elu.h>
#include <ATen/ops/relu.h>

#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

namespace {

using namespace ablate::test;
using ablate::Memory;
using ablate::Rate;
using ablate::Similarity;
using torch::Tensor;

/// sum_j mass_j sim(q, k_j) v_j / sum_j mass_j sim(q, k_j), with a weight for every slot.
Tensor plain_read(const Tensor& q, const Memory& memory, Similarity similarity) {
  const auto map = [&](const Tensor& x) { return similarity == Similarity::kRelu ? at::relu(x) : at::elu(x) + 1; };
  auto weights = similarity == Similarity::kSoftmax
                     ? (q.matmul(memory.keys.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(-1)))).exp()
                     : map(q).matmul(map(memory.keys).transpose(-1, -2));
  weights = weights * memory.mass.unsqueeze(-2);
  const auto sum = weights.sum(-1, true);
  return weights.matmul(memory.values) / sum.masked_fill(sum <= 0, 1);
}

}  // namespace

TEST_CASE("segment means equal a plain loop") {
  const auto plugin = compression("segment-mean");
  for (const auto rate :
       {Rate{1, 1}, Rate{1, 2}, Rate{1, 3}, Rate{2, 5}, Rate{3, 4}, Rate{1, 64}, Rate{311, 1000}, Rate{999, 1000}})
    for (const std::int64_t n : {1, 5, 12, 64, 65, 130})
      for (const bool masked : {false, true}) {
        const std::vector<std::int64_t> lengths =
            masked ? std::vector<std::int64_t>{n, n / 2, 0, (2 * n + 2) / 3} : std::vector<std::int64_t>(4, n);
        const auto keys = normal({4, 2, n, 3}, 1), values = normal({4, 2, n, 5}, 2);
        const auto memory = make(plugin, rate, 2, 3, 256)->write(keys, values, masked ? mask_of(n, lengths) : Tensor());
        INFO("rate " << rate.numerator << "/" << rate.denominator << ", n " << n << ", masked " << masked);
        REQUIRE(memory.values.size(2) == rate.slots(n));
        double worst = 0;
        for (std::int64_t i = 0; i < 4; ++i)
          for (std::int64_t slot = 0; slot < rate.slots(n); ++slot) {
            auto key = torch::zeros({2, 3}, torch::kDouble), value = torch::zeros({2, 5}, torch::kDouble);
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

TEST_CASE("a landmark counts as many tokens as it stands for") {
  const auto segment_mean = make(compression("segment-mean"), {1, 4}, 2, 6, 64);
  // Every token four times and the last twice: attention over the 18 tokens is what their 5 means have to give.
  const auto distinct_keys = normal({3, 2, 5, 6}, 1), distinct_values = normal({3, 2, 5, 6}, 2),
             queries = normal({3, 2, 7, 6}, 3);
  const auto keys = distinct_keys.repeat_interleave(4, 2).narrow(2, 0, 18);
  const auto values = distinct_values.repeat_interleave(4, 2).narrow(2, 0, 18);
  Memory tokens{keys, values, torch::ones({3, 1, 18}, torch::kDouble), {}};
  const auto memory = segment_mean->write(keys, values, {});
  REQUIRE(memory.values.size(2) == 5);
  for (const auto similarity : {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu})
    CHECK(distance(segment_mean->read(queries, memory, similarity), plain_read(queries, tokens, similarity)) < 1e-12);
}

TEST_CASE("landmark reads equal weights written out, ragged and masked") {
  const auto segment_mean = make(compression("segment-mean"), {2, 5}, 2, 6, 64);
  const auto keys = normal({4, 2, 13, 6}, 1), values = normal({4, 2, 13, 6}, 2), queries = normal({4, 2, 7, 6}, 3);
  for (const auto& mask : {Tensor(), mask_of(13, {13, 8, 1, 0})}) {
    const auto memory = segment_mean->write(keys, values, mask);
    for (const auto similarity : {Similarity::kSoftmax, Similarity::kElu, Similarity::kRelu}) {
      CHECK(distance(segment_mean->read(queries, memory, similarity), plain_read(queries, memory, similarity)) < 1e-12);
      const auto single =
          Memory{memory.keys.to(torch::kFloat), memory.values.to(torch::kFloat), memory.mass.to(torch::kFloat), memory.slots};
      CHECK(distance(segment_mean->read(queries.to(torch::kFloat), single, similarity).to(torch::kDouble),
                     plain_read(queries, memory, similarity)) < 1e-5);
    }
  }
}

TEST_CASE("a relu query that agrees with no key reads 0, and its gradients are finite") {
  const auto segment_mean = make(compression("segment-mean"), {1, 2}, 1, 2, 8);
  const auto keys = torch::tensor({1.0, -1.0, 2.0, -3.0}, torch::kDouble).view({1, 1, 2, 2}).requires_grad_();
  const auto queries = torch::tensor({-1.0, 4.0}, torch::kDouble).view({1, 1, 1, 2}).requires_grad_();
  const auto output = segment_mean->read(queries, segment_mean->write(keys, keys, {}), Similarity::kRelu);
  CHECK(output.abs().max().item<double>() == 0);
  output.sum().backward();
  CHECK(queries.grad().isfinite().all().item<bool>());
  CHECK(keys.grad().isfinite().all().item<bool>());
}
