// Compressive Transformer. Without compressed slots it equals Transformer-XL. Its slots equal a compression by hand. Its own
// loss trains only the compression.
#include "tests/plugins/attention.h"
#include "tests/plugins/compression.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

struct Sizes {
  std::int64_t memory = 4, compressed = 6;
  std::string rate = "1/2", compression = "segment-mean";
  double reconstruction = 1;
};

std::shared_ptr<ablate::Attention> compressive(const Sizes& sizes, std::uint64_t seed = 1) {
  return make(section("compressive-transformer", {{"heads", kHeads},
                                                  {"memory", sizes.memory},
                                                  {"compressed_memory", sizes.compressed},
                                                  {"rate", sizes.rate},
                                                  {"reconstruction", sizes.reconstruction},
                                                  {"compression", {{"plugin", sizes.compression}}}}),
              seed, {.causal = true, .carries = true});
}
std::shared_ptr<ablate::Attention> xl(std::int64_t memory) {
  return make(section("transformer-xl", {{"heads", kHeads}, {"memory", memory}}), 1, {.causal = true, .carries = true});
}

/// Runs x in segments of n tokens. Returns the last output and state. Tokens beyond `lengths` of a segment are NaN and masked.
ablate::AttentionOutput after(ablate::Attention& attention, const Tensor& x, std::int64_t n,
                              const std::vector<std::int64_t>& lengths = {}) {
  ablate::AttentionOutput result{.state = attention.initial_state(x.size(0))};
  for (std::int64_t at = 0; at < x.size(1); at += n) {
    auto part = x.narrow(1, at, n);
    Tensor mask;
    if (!lengths.empty()) {
      mask = mask_of(n, lengths);
      part = part.masked_fill(mask.logical_not().unsqueeze(-1), NAN);
    }
    result = pass(attention, {.queries = part, .mask = mask, .state = std::move(result.state)});
  }
  return result;
}

/// Returns softmax(q k^T / sqrt(d)) v of each head, without positions: [heads, n, d_head].
/// @param h [n, d_model]
/// @param x [m, d_model]
Tensor by_content(const ablate::Attention& attention, const Tensor& h, const Tensor& x) {
  const auto split = [](const Tensor& y) { return y.unflatten(-1, {kHeads, -1}).transpose(0, 1); };
  const auto q = split(layer(attention, "query", h)), k = split(layer(attention, "key", x)),
             v = split(layer(attention, "value", x));
  return (q.matmul(k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2)))).softmax(-1).matmul(v);
}

}  // namespace

TEST_CASE("compressive-transformer without compressed memory equals transformer-xl, with gradients") {
  const auto attention = compressive({.compressed = 0}), oracle = xl(4);
  copy_parameters(*oracle, *attention);
  const auto x = random_tokens(2, 15, 2).requires_grad_(), weights = random_tokens(2, 5, 3);
  const auto found = after(*attention, x, 5).output, expected = after(*oracle, x, 5).output;
  CHECK(distance(found, expected) < 1e-13);
  CHECK(distance(gradients(*attention, (found * weights).sum(), {x}), gradients(*oracle, (expected * weights).sum(), {x})) <
        1e-12);
}

TEST_CASE("compressive-transformer at rate 1 equals transformer-xl with a longer memory, with padding and gradients") {
  for (const auto* compression : {"segment-mean", "max-pool", "most-used"}) {
    const auto attention = compressive({.rate = "1", .compression = compression}), oracle = xl(10), shorter = xl(4);
    for (const auto& to : {oracle, shorter}) copy_parameters(*attention, *to);
    const auto x = random_tokens(2, 20, 2).requires_grad_(), weights = random_tokens(2, 5, 3);
    for (const auto& lengths : std::vector<std::vector<std::int64_t>>{{}, {5, 3}}) {
      const auto found = after(*attention, x, 5, lengths).output, expected = after(*oracle, x, 5, lengths).output;
      const auto real = lengths.empty() ? weights : weights.masked_fill(mask_of(5, lengths).logical_not().unsqueeze(-1), 0);
      INFO(compression << (lengths.empty() ? "" : ", padded"));
      CHECK(distance(found * (real != 0), expected * (real != 0)) < 1e-12);
      CHECK(distance(gradients(*attention, (found * real).sum(), {x}), gradients(*oracle, (expected * real).sum(), {x})) <
            1e-11);
      CHECK(distance(found[0], after(*shorter, x, 5, lengths).output[0]) > 1e-4);
    }
  }
}

TEST_CASE("compressive-transformer compresses the tokens that leave each item's memory, and stores the last slots") {
  const auto attention = compressive({});
  const auto x = random_tokens(2, 24, 2);
  const auto state = after(*attention, x, 6, {6, 4}).state;
  REQUIRE(state.size() == 5);  // memory and its mask, slots and their mask, usage
  const auto check = [&](std::int64_t item, const Tensor& tokens, const std::vector<std::int64_t>& left) {
    // A slot is the mean of two tokens that leave the memory (4 tokens) during the same segment. If their number is odd, the
    // last token is a slot alone.
    std::vector<Tensor> slots;
    std::int64_t at = 0;
    for (const auto count : left) {
      for (std::int64_t i = 0; i < count; i += 2)
        slots.push_back(tokens.narrow(0, at + i, std::min<std::int64_t>(2, count - i)).mean(0));
      at += count;
    }
    const auto all = ablate::stack(slots);
    const auto kept = std::min<std::int64_t>(6, all.size(0));
    CHECK(state[3][item].sum().item<std::int64_t>() == kept);
    CHECK(distance(state[2][item].narrow(0, 6 - kept, kept), all.narrow(0, all.size(0) - kept, kept)) < 1e-13);
    CHECK(distance(state[0][item], tokens.narrow(0, tokens.size(0) - 4, 4)) == 0);
  };
  check(0, x[0], {2, 6, 6, 6});
  std::vector<Tensor> own;
  for (std::int64_t at = 0; at < 24; at += 6) own.push_back(x[1].narrow(0, at, 4));
  check(1, ablate::cat(own), {0, 4, 4, 4});
}

TEST_CASE("compressive-transformer: a slot without mass, like an empty cluster, keeps its place and is masked") {
  const auto attention = compressive({.memory = 2, .compressed = 4, .rate = "1/2", .compression = "clustering"});
  const auto clustering = make(section("clustering"), {{1, 2}}, 1, kChannels, kMaxLength);
  {
    const ablate::NoGradGuard none;
    buffer(*clustering, "centroids").copy_(buffer(*attention, "compression.centroids"));
  }
  // Equal tokens fall into one cluster, so three of four slots are empty.
  const auto x = random_tokens(1, 1, 2).expand({1, 10, kChannels}).contiguous();
  const auto state = pass(*attention, {.queries = x, .state = attention->initial_state(1)}).state;
  const auto old = x.narrow(1, 0, 8).unsqueeze(1);
  const auto memory = write(*clustering, old, old);
  REQUIRE((memory.mass > 0).sum().item<std::int64_t>() == 1);
  CHECK(distance(state[2], memory.values[0]) < 1e-15);
  CHECK(state[3].equal((memory.mass > 0).squeeze(1)));
}

TEST_CASE("compressive-transformer: most-used keeps the tokens, of memory and segment, that all queries attended to most") {
  const auto attention = compressive({.compression = "most-used"});
  const auto x = random_tokens(1, 12, 2);
  auto state = attention->initial_state(1);
  state = pass(*attention, {.queries = x.narrow(1, 0, 6), .state = state}).state;
  // Usage: attention of the first segment to its own tokens.
  const auto usage = state[4];
  const auto kept = state[2][0].narrow(0, 5, 1);
  CHECK((distance(kept[0], x[0][0]) == 0 || distance(kept[0], x[0][1]) == 0));
  CHECK(usage.sum().item<double>() < 6);  // six queries, and part of their attention went to the two tokens that left
  CHECK(usage.min().item<double>() > 0);
  const auto next = pass(*attention, {.queries = x.narrow(1, 6, 6), .state = state}).state;
  // The first segment has made one slot. Of the six tokens that leave the memory now, the three most used become slots.
  CHECK(next[3][0].sum().item<std::int64_t>() == 4);
}

TEST_CASE("compressive-transformer: the reconstruction loss equals its equation, and trains only the compression") {
  const auto attention = compressive({.compression = "convolution"});
  attention->train();
  auto x = random_tokens(1, 6, 2).requires_grad_();
  const auto result = pass(*attention, {.queries = x, .state = attention->initial_state(1)});
  REQUIRE(result.auxiliary_loss.defined());
  const auto weight = parameter(*attention, "compression.weight"), bias = parameter(*attention, "compression.bias");
  const auto old = x[0].narrow(0, 0, 2).detach();
  const auto slot = (weight[0].matmul(old.flatten()) + bias[0][0]).unsqueeze(0);
  const auto expected =
      (by_content(*attention, x[0].detach(), slot) - by_content(*attention, x[0].detach(), old)).square().mean();
  CHECK(distance(result.auxiliary_loss, expected) < 1e-13);
  const auto found = torch::autograd::grad({result.auxiliary_loss}, {weight, bias}, {}, true);
  CHECK(distance(found, torch::autograd::grad({expected}, {weight, bias})) < 1e-12);
  CHECK(found[0].abs().max().item<double>() > 1e-6);
  std::vector<Tensor> others = {x};
  for (const auto& entry : attention->parameters())
    if (!entry.name.starts_with("compression")) others.push_back(entry.tensor);
  for (const auto& gradient : torch::autograd::grad({result.auxiliary_loss}, others, {}, true, false, true))
    CHECK((!gradient.defined() || gradient.abs().max().item<double>() == 0));
  // The task's loss trains the tensors that are constant in the loss above. A detached parameter would get no gradient here.
  for (const auto& gradient :
       torch::autograd::grad({result.output.sum()}, {parameter(*attention, "value.weight"), x}, {}, true))
    CHECK(gradient.abs().max().item<double>() > 0);
  // Gradient descent lowers the loss, as far as two tokens in one slot allow.
  double before = expected.item<double>(), now = before;
  for (int step = 0; step < 400; ++step) {
    const auto loss = pass(*attention, {.queries = x, .state = attention->initial_state(1)}).auxiliary_loss;
    const auto gradient = torch::autograd::grad({loss}, {weight, bias});
    const ablate::NoGradGuard none;
    weight.sub_(gradient[0] * 0.2);
    bias.sub_(gradient[1] * 0.2);
    now = loss.item<double>();
  }
  CHECK(now < before / 4);
  attention->eval();
  CHECK_FALSE(pass(*attention, {.queries = x, .state = attention->initial_state(1)}).auxiliary_loss.defined());
}

TEST_CASE("compressive-transformer: the reconstruction loss averages real queries of items that have lost tokens") {
  const auto attention = compressive({.compression = "convolution"});
  attention->train();
  const auto weight = parameter(*attention, "compression.weight"), bias = parameter(*attention, "compression.bias");
  const auto off = [&](const Tensor& queries, const Tensor& old) {
    std::vector<Tensor> slots;
    for (std::int64_t i = 0; i < old.size(0); i += 2)
      slots.push_back(weight[0].matmul(old.narrow(0, i, 2).flatten()) + bias[0][0]);
    return (by_content(*attention, queries, ablate::stack(slots)) - by_content(*attention, queries, old)).square();
  };
  const auto x = random_tokens(2, 12, 2), first = x.narrow(1, 0, 6), second = x.narrow(1, 6, 6);
  const auto segment = [&](const Tensor& tokens, const std::vector<std::int64_t>& lengths, ablate::AttentionState state) {
    const auto mask = mask_of(6, lengths);
    return pass(
        *attention,
        {.queries = tokens.masked_fill(mask.logical_not().unsqueeze(-1), NAN), .mask = mask, .state = std::move(state)});
  };
  // The memory has room for 4 tokens. The first item loses two of its six tokens, and the second loses none of its two tokens.
  auto result = segment(first, {6, 2}, attention->initial_state(2));
  CHECK(distance(result.auxiliary_loss, off(first[0], first[0].narrow(0, 0, 2)).mean()) < 1e-13);
  // Then both items lose four tokens, with 4 and 6 queries.
  result = segment(second, {4, 6}, std::move(result.state));
  const auto one = off(second[0].narrow(0, 0, 4), first[0].narrow(0, 2, 4)),
             two = off(second[1], ablate::cat({first[1].narrow(0, 0, 2), second[1].narrow(0, 0, 2)}));
  CHECK(distance(result.auxiliary_loss, ablate::cat({one, two}, 1).mean()) < 1e-13);
  CHECK(distance(result.auxiliary_loss, (one.mean() + two.mean()) / 2) > 1e-8);
}

TEST_CASE("compressive-transformer refuses a compression whose slots may not be beside tokens") {
  for (const auto* compression : {"rbf", "random-features"})
    CHECK_THROWS_WITH(compressive({.compression = compression}),
                      Catch::Matchers::Contains("choose one that promises beside_tokens"));
}
