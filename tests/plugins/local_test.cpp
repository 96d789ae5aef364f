// Local attention against softmax attention under an explicit mask, in values and gradients.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

/// Returns [n, offset + n] bool: token i sees its own block and both neighbours, or if causal, its own and the previous block.
/// @param offset number of keys in the block before the first block
Tensor neighbours(std::int64_t n, std::int64_t window, bool causal, std::int64_t offset = 0) {
  const auto seen = [&](std::int64_t i, std::int64_t j) {
    const auto apart = (j + window) / window - 1 - i / window;  // in blocks
    return apart >= -1 && (causal ? j <= i : apart <= 1);
  };
  return pairs(n, seen, offset);
}

/// Computes one item: every query of `queries` [n, d] over all keys of `context` [keys, d] that it sees.
Tensor masked(const ablate::Attention& attention, const Tensor& queries, const Tensor& context, const Tensor& seen) {
  return ablate::test::masked(attention, kHeads, queries, context, seen);
}

std::shared_ptr<ablate::Attention> local(std::int64_t window, bool causal, bool carries = false) {
  return make(section("local", {{"heads", kHeads}, {"window", window}}), 1, {.causal = causal, .carries = carries});
}

}  // namespace

TEST_CASE("local attention equals softmax attention under its mask, at any length, with gradients") {
  for (const bool causal : {false, true})
    for (const std::int64_t window : {1, 3, 4, 64})
      for (const std::int64_t n : {1, 3, 4, 5, 8, 13, 16}) {
        INFO("causal " << causal << ", window " << window << ", n " << n);
        const auto attention = local(window, causal);
        const auto x = random_tokens(2, n, 2).requires_grad_(), weights = random_tokens(2, n, 3);
        const auto output = run(*attention, {x});
        std::vector<Tensor> rows;
        for (std::int64_t i = 0; i < 2; ++i) rows.push_back(masked(*attention, x[i], x[i], neighbours(n, window, causal)));
        const auto expected = ablate::stack(rows);
        CHECK(distance(output, expected) < 1e-12);
        CHECK(distance(gradients(*attention, (output * weights).sum(), {x}),
                       gradients(*attention, (expected * weights).sum(), {x})) < 1e-11);
      }
}

TEST_CASE("local attention differs from another window, and from a band instead of blocks") {
  const auto attention = local(4, true);
  const auto x = random_tokens(1, 13, 2);
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, masked(*attention, x[0], x[0], neighbours(13, 5, true))) > 1e-3);
  CHECK(distance(output, masked(*attention, x[0], x[0], neighbours(13, 4, false))) > 1e-3);
  const auto band = ablate::ones({13, 13}, ablate::kBool).tril().triu(-4);
  CHECK(distance(output, masked(*attention, x[0], x[0], band)) > 1e-3);
}

TEST_CASE("local attention: a padded item equals the item without its padding, and padding has no effect") {
  for (const bool causal : {false, true}) {
    const auto attention = local(4, causal);
    const std::vector<std::int64_t> lengths = {14, 9, 4, 1};
    const auto x = random_tokens(4, 14, 2);
    auto dirty = x.clone();
    for (std::int64_t i = 0; i < 4; ++i) dirty[i].narrow(0, lengths[i], 14 - lengths[i]).fill_(NAN);
    const auto leaf = dirty.requires_grad_();
    const auto mask = mask_of(14, lengths), real = mask.unsqueeze(-1);
    const auto output = run(*attention, {leaf, {}, mask});
    const auto weights = random_tokens(4, 14, 3);
    const auto found = gradients(*attention, (output * weights).masked_select(real).sum(), {leaf});
    Tensor loss = ablate::zeros({}, ablate::kDouble);
    for (std::int64_t i = 0; i < 4; ++i) {
      const auto n = lengths[i];
      const auto own = x[i].narrow(0, 0, n), expected = masked(*attention, own, own, neighbours(n, 4, causal));
      INFO("causal " << causal << ", item " << i);
      CHECK(distance(output[i].narrow(0, 0, n), expected) < 1e-12);
      loss = loss + (expected * weights[i].narrow(0, 0, n)).sum();
    }
    auto expected = gradients(*attention, loss);
    CHECK(found.back().masked_select(real.logical_not()).abs().max().item<double>() == 0);
    CHECK(distance({found.begin(), found.end() - 1}, expected) < 1e-11);
  }
}

TEST_CASE("local attention carries the previous block: segments of whole blocks equal the whole") {
  const auto attention = local(4, true, true);
  const auto x = random_tokens(2, 19, 2);
  const auto whole = run(*attention, {x});
  auto state = attention->initial_state(2);
  std::int64_t begin = 0;
  for (const std::int64_t end : {8, 12, 19}) {
    const auto segment = pass(*attention, {.queries = x.narrow(1, begin, end - begin), .state = state});
    INFO("segment that ends at " << end);
    CHECK(distance(segment.output, whole.narrow(1, begin, end - begin)) < 1e-12);
    if (begin > 0) CHECK(distance(run(*attention, {x.narrow(1, begin, end - begin)}), segment.output) > 1e-3);
    state = segment.state;
    begin = end;
  }
}

TEST_CASE("local attention: a segment's blocks begin at its first token, and its memory is the window of tokens before it") {
  for (const bool causal : {false, true}) {
    const auto attention = local(4, causal, true);
    const auto x = random_tokens(1, 16, 2);
    const auto first = pass(*attention, {.queries = x.narrow(1, 0, 6), .state = attention->initial_state(1)});
    const auto second = run(*attention, {.queries = x.narrow(1, 6, 10), .state = first.state});
    const auto expected = masked(*attention, x[0].narrow(0, 6, 10), x[0].narrow(0, 2, 14), neighbours(10, 4, causal, 4));
    CHECK(distance(second[0], expected) < 1e-12);
  }
}
