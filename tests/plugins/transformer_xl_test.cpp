// Transformer-XL equals its equation, term by term. Segments equal the whole sequence if their memory covers all of it.
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

/// Returns the encoding R of a distance: sines, then cosines.
Tensor encoding(std::int64_t distance) {
  const auto half = kChannels / 2;
  auto result = ablate::zeros({kChannels}, ablate::kDouble);
  for (std::int64_t c = 0; c < half; ++c) {
    const double angle = static_cast<double>(distance) / std::pow(10000, static_cast<double>(c) / static_cast<double>(half));
    result[c] = std::sin(angle);
    result[half + c] = std::cos(angle);
  }
  return result;
}

/// Attends for one item, query by query and key by key: A_ij = q_i k_j + q_i W_r R + u k_j + v W_r R.
/// @param queries [n, d] the last n of `context`
/// @param context [keys, d]
/// @param farther added to every distance: 0 is right
Tensor attend_relative(const ablate::Attention& attention, const Tensor& queries, const Tensor& context,
                       std::int64_t farther = 0) {
  const auto split = [](const Tensor& x) { return x.unflatten(-1, {kHeads, -1}); };
  const auto q = split(layer(attention, "query", queries)), k = split(layer(attention, "key", context)),
             v = split(layer(attention, "value", context));
  const auto content = parameter(attention, "content_bias"), position = parameter(attention, "position_bias");
  const auto n = queries.size(0), keys = context.size(0), offset = keys - n;
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t h = 0; h < kHeads; ++h) {
      std::vector<Tensor> scores;
      for (std::int64_t j = 0; j <= offset + i; ++j) {
        const auto r = split(parameter(attention, "relative.weight").matmul(encoding(offset + i - j + farther)))[h];
        scores.push_back(q[i][h].dot(k[j][h]) + q[i][h].dot(r) + content[h][0].dot(k[j][h]) + position[h][0].dot(r));
      }
      const auto weights = (ablate::stack(scores) / std::sqrt(static_cast<double>(kChannels / kHeads))).softmax(0);
      rows.push_back(weights.matmul(v.select(1, h).narrow(0, 0, offset + i + 1)));
    }
  return layer(attention, "output", ablate::stack(rows).view({n, kChannels}));
}

std::shared_ptr<ablate::Attention> xl(std::int64_t memory, bool carries = true, std::int64_t evaluation_memory = 0) {
  return make(section("transformer-xl", {{"heads", kHeads}, {"memory", memory}, {"evaluation_memory", evaluation_memory}}), 1,
              {.causal = true, .carries = carries && memory > 0});
}

/// Returns the outputs of segments that end at `ends`. Each segment begins with the state that the segment before returned.
std::vector<Tensor> segments(ablate::Attention& attention, const Tensor& x, const std::vector<std::int64_t>& ends) {
  auto state = attention.initial_state(x.size(0));
  std::vector<Tensor> outputs;
  std::int64_t begin = 0;
  for (const auto end : ends) {
    auto result = pass(attention, {.queries = x.narrow(1, begin, end - begin), .state = state});
    outputs.push_back(result.output);
    state = std::move(result.state);
    begin = end;
  }
  return outputs;
}

}  // namespace

TEST_CASE("transformer-xl equals its equation, with gradients") {
  for (const std::int64_t n : {1, 2, 7, 12}) {
    const auto attention = xl(0);
    const auto x = random_tokens(2, n, 2).requires_grad_(), weights = random_tokens(2, n, 3);
    const auto output = run(*attention, {x});
    const auto expected =
        ablate::stack(std::vector{attend_relative(*attention, x[0], x[0]), attend_relative(*attention, x[1], x[1])});
    INFO("n " << n);
    CHECK(distance(output, expected) < 1e-12);
    CHECK(distance(gradients(*attention, (output * weights).sum(), {x}),
                   gradients(*attention, (expected * weights).sum(), {x})) < 1e-11);
  }
}

TEST_CASE("transformer-xl: with a memory that covers all, segments equal attention over the concatenation, with gradients") {
  const auto attention = xl(16);
  const auto x = random_tokens(2, 12, 2).requires_grad_();
  const auto last = segments(*attention, x, {5, 6, 12}).back();
  const auto own = x.narrow(1, 6, 6).detach().requires_grad_();
  const auto all = ablate::cat({x.narrow(1, 0, 6).detach(), own}, 1);
  const auto expect = [&](std::int64_t farther) {
    return ablate::stack(std::vector{attend_relative(*attention, own[0], all[0], farther),
                                     attend_relative(*attention, own[1], all[1], farther)});
  };
  const auto expected = expect(0), weights = random_tokens(2, 6, 3);
  CHECK(distance(last, expected) < 1e-12);
  auto found = gradients(*attention, (last * weights).sum(), {x});
  // The memory is detached: only tokens of the last segment get gradients, and parameters get gradients from all tokens.
  CHECK(found.back().narrow(1, 0, 6).abs().max().item<double>() == 0);
  found.back() = found.back().narrow(1, 6, 6);
  CHECK(distance(found, gradients(*attention, (expected * weights).sum(), {own})) < 1e-11);
  // The reference with distances off by one differs, and so does the attention without a memory.
  CHECK(distance(last, expect(1)) > 1e-3);
  CHECK(distance(run(*attention, {x.narrow(1, 6, 6)}), expected) > 1e-3);
}

TEST_CASE("transformer-xl: segments equal one pass if the memory covers all; a shorter memory covers only the last tokens") {
  const auto attention = xl(16), shorter = xl(4);
  const auto x = random_tokens(1, 15, 2);
  const auto whole = run(*attention, {x});
  CHECK(distance(ablate::cat(segments(*attention, x, {4, 5, 11, 15}), 1), whole) < 1e-12);
  const auto last = segments(*shorter, x, {5, 10, 15}).back();
  CHECK(distance(last[0], attend_relative(*shorter, x[0].narrow(0, 10, 5), x[0].narrow(0, 6, 9))) < 1e-12);
}

TEST_CASE("transformer-xl: each item has its own memory, of the tokens that it has read") {
  const auto attention = xl(8);
  const auto x = random_tokens(2, 10, 2);
  auto dirty = x.clone();
  dirty.select(0, 1).narrow(0, 2, 3).fill_(NAN);
  const auto state =
      pass(*attention, {.queries = dirty.narrow(1, 0, 5), .mask = mask_of(5, {5, 2}), .state = attention->initial_state(2)})
          .state;
  const auto last = run(*attention, {.queries = x.narrow(1, 5, 5), .state = state});
  CHECK(distance(last[0], attend_relative(*attention, x[0].narrow(0, 5, 5), x[0])) < 1e-12);
  const auto own = ablate::cat({x[1].narrow(0, 0, 2), x[1].narrow(0, 5, 5)});
  CHECK(distance(last[1], attend_relative(*attention, x[1].narrow(0, 5, 5), own)) < 1e-12);
}

TEST_CASE("transformer-xl: the memory may have another length in evaluation; without a memory there is no state") {
  const auto attention = xl(3, true, 7);
  CHECK(attention->initial_state(2).at(0).size(1) == 7);
  attention->train();
  CHECK(attention->initial_state(2).at(0).size(1) == 3);
  CHECK_FALSE(promised_by(section("transformer-xl", {{"memory", 0}})).stateful);
  CHECK(promised_by(section("transformer-xl")).stateful);
  CHECK_THROWS_WITH(xl(0, false, 7), Catch::Matchers::Contains("evaluation_memory = 7 with memory = 0"));
}
