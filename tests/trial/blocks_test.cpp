// Blocks of tokens and the keys that these tokens see, compared with a computation token by token.
#include "ablate/blocks.h"

#include <torch/csrc/autograd/autograd.h>

#include "ablate/buckets.h"
#include "core/trial/model/instances.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

Tensor normal(at::IntArrayRef sizes, std::uint64_t seed) { return randn(sizes, make_generator(seed), kDouble); }
double apart_by(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

}  // namespace

TEST_CASE("a query without visible keys gives 0 and passes no gradient; other queries give softmax over their visible keys") {
  const auto q = normal({2, 1, 3, 4}, 1).requires_grad_(), k = normal({2, 1, 5, 4}, 2).requires_grad_(),
             v = normal({2, 1, 5, 6}, 3).requires_grad_();
  auto seen = ones({2, 1, 3, 5}, kBool);
  seen[0][0][1].fill_(false);
  seen[1][0][2].narrow(0, 1, 3).fill_(false);
  const auto read = attend_seen(q, k, v, seen);
  CHECK(read[0][0][1].abs().max().item<double>() == 0);
  const auto found = torch::autograd::grad({read[0][0][1].sum()}, {q, k, v}, {}, true);
  for (const auto& gradient : found) CHECK(gradient.abs().max().item<double>() == 0);
  const auto scores = q.matmul(k.transpose(-1, -2)) / 2;
  const auto expected = scores.masked_fill(seen.logical_not(), -INFINITY).softmax(-1).matmul(v);
  CHECK(apart_by(read[1], expected[1]) < 1e-14);
  const auto blocks = attend_blocks(q.unsqueeze(2), k.unsqueeze(2), v.unsqueeze(2), seen.unsqueeze(2));
  CHECK(apart_by(blocks.squeeze(2), read) < 1e-14);
}

TEST_CASE("blocks list each query's neighbours by their distance, also with a memory") {
  for (const std::int64_t offset : {0, 3, 6})
    for (const std::int64_t n : {1, 4, 8, 9}) {
      const Neighbours blocks{.size = 4, .before = 2, .behind = 1, .offset = offset};
      const auto x = (arange(offset + n, kDouble) + 1).view({1, 1, -1, 1});  // each key has its own number
      const auto queries = blocks.queries((arange(n, kDouble) + 1).view({1, 1, n, 1})), keys = blocks.keys(x);
      const auto there = blocks.present(ones({1, offset + n}, kBool));
      const auto distance = blocks.distance(c10::kCPU);
      REQUIRE(keys.size(3) == 16);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < 16; ++j) {
          const auto key = i + distance[i % 4][j].item<std::int64_t>();  // position, counted from the first query
          const bool exists = key >= -offset && key < n;
          INFO("offset " << offset << ", n " << n << ", query " << i << ", key " << key);
          CHECK(there[0][0][i / 4][0][j].item<bool>() == exists);
          CHECK(keys[0][0][i / 4][j][0].item<double>() == (exists ? static_cast<double>(offset + key + 1) : 0));
        }
      CHECK(Neighbours::joined(queries, n).flatten().equal(arange(n, kDouble) + 1));
    }
}

TEST_CASE("every step-th token is split off and joined again") {
  const auto x = normal({2, 3, 11, 4}, 1);
  for (const std::int64_t step : {1, 3, 11}) {
    const auto parts = apart(x, step);
    for (std::int64_t i = 0; i < 11; ++i)
      CHECK(parts[step + i % step].narrow(1, i / step, 1).squeeze(1).equal(x[1].narrow(1, i, 1).squeeze(1)));
    CHECK(together(parts, step, 11).equal(x));
    const auto mask = mask_apart(arange(11).lt(5).unsqueeze(0), step);
    CHECK(mask.sum().item<std::int64_t>() == 5);
  }
}

TEST_CASE("rows are gathered by index, and their sums are scattered back") {
  const auto x = normal({2, 3, 7, 4}, 1);
  const auto index = randint(7, {2, 3, 10}, make_generator(2));
  const auto rows = take(x, index);
  CHECK(rows.equal(x.gather(2, index.unsqueeze(-1).expand({-1, -1, -1, 4}))));
  const auto y = normal({2, 3, 10, 4}, 3);  // the two functions are adjoint
  CHECK(std::abs((rows * y).sum().item<double>() - (x * sum_rows(y, index, 7)).sum().item<double>()) < 1e-12);
}

TEST_CASE("tokens are sorted by bucket, then by position, and tokens without a bucket are last") {
  const auto bucket = randint(3, {2, 2, 12}, make_generator(2));
  const auto mask = arange(12) < integers(std::vector<std::int64_t>{12, 7}).unsqueeze(1);
  const BucketOrder order(bucket, mask, 3);
  const auto x = normal({2, 2, 12, 4}, 3);
  CHECK(order.unsorted(order.sorted(x)).equal(x));
  for (std::int64_t h = 0; h < 2; ++h)
    for (std::int64_t place = 0; place < 12; ++place) {
      const auto token = order.tokens[1][h][place].item<std::int64_t>(), own = order.buckets[1][h][place].item<std::int64_t>();
      CHECK(own == (token < 7 ? bucket[1][h][token].item<std::int64_t>() + 1 : 0));
      if (place == 0) continue;
      const auto before = order.tokens[1][h][place - 1].item<std::int64_t>(),
                 other = order.buckets[1][h][place - 1].item<std::int64_t>();
      const auto rank = [](std::int64_t of) { return of == 0 ? 4 : of; };
      CHECK((rank(other) < rank(own) || (other == own && before < token)));
    }
  const Neighbours blocks{.size = 4, .behind = 0};
  const auto same = order.same(blocks);
  for (std::int64_t i = 0; i < 12; ++i)
    for (std::int64_t j = 0; j < 8; ++j) {
      const auto key = i / 4 * 4 - 4 + j;
      const auto at = [&](std::int64_t place) { return order.buckets[1][0][place].item<std::int64_t>(); };
      CHECK(same[1][0][i / 4][i % 4][j].item<bool>() == (key >= 0 && at(key) > 0 && at(key) == at(i)));
    }
}
