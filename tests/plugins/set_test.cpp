// Induced set attention against its equations, and its independence of the order of tokens.
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

std::shared_ptr<ablate::Attention> induced(std::int64_t points) {
  return make(section("set", {{"heads", kHeads}, {"points", points}}));
}

/// @param scale divisor of scores: sqrt(d_head) is right; public code wrongly divides by sqrt(d_model)
Tensor expected(const ablate::Attention& attention, const Tensor& queries, const Tensor& context, double scale) {
  const auto q = layer(attention, "query", queries), k = layer(attention, "key", context),
             v = layer(attention, "value", context);
  const auto d = q.size(1) / kHeads;
  const auto of = [&](const Tensor& x, std::int64_t h) { return x.narrow(1, h * d, d); };
  std::vector<Tensor> read, output;
  for (std::int64_t h = 0; h < kHeads; ++h)
    read.push_back((parameter(attention, "points")[h].matmul(of(k, h).t()) / scale).softmax(-1).matmul(of(v, h)));
  const auto points = ablate::cat(read, 1);
  const auto keys = layer(attention, "point_key", points), values = layer(attention, "point_value", points);
  for (std::int64_t h = 0; h < kHeads; ++h)
    output.push_back((of(q, h).matmul(of(keys, h).t()) / scale).softmax(-1).matmul(of(values, h)));
  return layer(attention, "output", ablate::cat(output, 1));
}

const double kScale = std::sqrt(static_cast<double>(kChannels) / kHeads);

}  // namespace

TEST_CASE("induced set attention equals its equations, padded and across sequences, with gradients") {
  const auto attention = induced(5);
  const std::vector<std::int64_t> lengths = {13, 6, 1};
  const auto x = random_tokens(3, 13, 2).requires_grad_(), weights = random_tokens(3, 13, 3);
  const auto output = run(*attention, {x, {}, mask_of(13, lengths)});
  auto loss = ablate::zeros({}, ablate::kDouble), right = ablate::zeros({}, ablate::kDouble);
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto n = lengths[i];
    const auto own = x[i].narrow(0, 0, n), plain = expected(*attention, own, own, kScale);
    CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-12);
    CHECK(distance(plain, expected(*attention, own, own, std::sqrt(static_cast<double>(kChannels)))) > (n > 1 ? 1e-3 : -1));
    loss = loss + (output[i].narrow(0, 0, n) * weights[i].narrow(0, 0, n)).sum();
    right = right + (plain * weights[i].narrow(0, 0, n)).sum();
  }
  CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-11);
  const auto queries = random_tokens(1, 4, 4);
  CHECK(distance(run(*attention, {queries, x.narrow(0, 0, 1)})[0], expected(*attention, queries[0], x[0], kScale)) < 1e-12);
}

TEST_CASE("tokens in another order give the same outputs in that order") {
  const auto attention = induced(3);
  const auto x = random_tokens(2, 13, 2);
  const auto other = (ablate::arange(13) * 5).remainder(13);
  CHECK(distance(run(*attention, {x.index_select(1, other)}), run(*attention, {x}).index_select(1, other)) < 1e-12);
}
