// The short convolution of HeadwiseAttention equals its defining sum, also by segments with a state. The test's attention
// exposes q, k and v.
#include "ablate/headwise.h"
#include "core/registry/values.h"
#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kTokens = 4;

class Shows final : public ablate::HeadwiseAttention {
 public:
  explicit Shows(const ablate::AttentionContext& context, std::int64_t memory = 0)
      : HeadwiseAttention(context, {.heads = 2, .d_key = 3, .memory = memory, .convolution = kTokens}) {}

  Tensor q, k, v;

 private:
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    q = input.q, k = input.k, v = input.v;
    return {.values = input.v};
  }
};

struct NoParts final : ablate::Parts {
  std::shared_ptr<ablate::Attention> attention(const char*, std::size_t, std::int64_t) override { return {}; }
  std::shared_ptr<ablate::Compression> compression(const char*, ablate::Slots, std::int64_t, std::int64_t) override {
    return {};
  }
  ablate::Capabilities promises(const char*, std::size_t) const override { return {}; }
  Tensor shared(const char*, const std::function<Tensor()>&) override { return {}; }
};

std::shared_ptr<Shows> shows(std::int64_t memory = 0) {
  static NoParts parts;
  static const ablate::JsonValues values({}, {}, "a test");
  return in_double(std::make_shared<Shows>(ablate::AttentionContext{.parameters = values,
                                                                    .d_model = kChannels,
                                                                    .width = kChannels,
                                                                    .max_length = kMaxLength,
                                                                    .train_length = kMaxLength,
                                                                    .causal = true,
                                                                    .carries = true,
                                                                    .generator = ablate::make_generator(1),
                                                                    .parts = parts},
                                           memory));
}

}  // namespace

TEST_CASE("the short convolution equals its sum over a token and earlier tokens, with gradients") {
  const auto attention = shows();
  const auto x = random_tokens(2, 9, 2).requires_grad_();
  run(*attention, {x});
  const auto filter = parameter(*attention, "filter");
  REQUIRE(filter.sizes() == ablate::IntArrayRef({6 + 6 + 16, kTokens}));
  std::int64_t begin = 0;
  for (const auto& [name, found] :
       {std::pair<std::string, Tensor>{"query", attention->q}, {"key", attention->k}, {"value", attention->v}}) {
    const auto y = layer(*attention, name, x);
    const auto own = filter.narrow(0, begin, y.size(2));
    const auto expected = ablate::stack(std::vector{convolved(y[0], own), convolved(y[1], own)});
    const auto weights = normal(expected.sizes(), 3);
    INFO(name);
    CHECK(distance(ablate::merge_heads(found), expected) < 1e-13);
    CHECK(distance(gradients(*attention, (ablate::merge_heads(found) * weights).sum(), {x}),
                   gradients(*attention, (expected * weights).sum(), {x})) < 1e-12);
    begin += y.size(2);
  }
}

TEST_CASE("the short convolution by segments equals the whole, separately for each item, without padding") {
  const auto attention = shows();
  const auto x = random_tokens(2, 12, 2);
  auto state = attention->initial_state(2);
  REQUIRE(state.size() == 1);
  CHECK(state[0].sizes() == ablate::IntArrayRef({2, kTokens - 1, 28}));
  const std::vector<std::vector<std::int64_t>> lengths = {{5, 2}, {1, 1}, {6, 6}};  // lengths of the items, segment by segment
  std::vector<Tensor> first, second;
  std::int64_t at = 0;
  for (const auto& length : lengths) {
    auto segment = x.narrow(1, at, length[0]).clone();
    segment[1].narrow(0, length[1], length[0] - length[1]).fill_(NAN);
    auto result = pass(*attention, {.queries = segment, .mask = mask_of(length[0], length), .state = state});
    state = std::move(result.state);
    CHECK(attention->k[1].narrow(1, length[1], length[0] - length[1]).abs().sum().item<double>() == 0);
    first.push_back(attention->v[0].narrow(1, 0, length[0]));
    second.push_back(attention->v[1].narrow(1, 0, length[1]));
    at += length[0];
  }
  run(*attention, {x.narrow(0, 0, 1)});
  CHECK(distance(ablate::cat(first, 1), attention->v[0]) < 1e-13);
  run(*attention, {ablate::cat({x[1].narrow(0, 0, 2), x[1].narrow(0, 5, 1), x[1].narrow(0, 6, 6)}).unsqueeze(0)});
  CHECK(distance(ablate::cat(second, 1), attention->v[0]) < 1e-13);
}

TEST_CASE("a short convolution beside a memory, or over another sequence, is refused") {
  CHECK_THROWS_WITH(shows(4), Catch::Matchers::Contains("cannot be combined with a memory"));
  CHECK_THROWS_WITH(run(*shows(), {.queries = random_tokens(1, 3, 1), .context = random_tokens(1, 5, 2)}),
                    Catch::Matchers::Contains("needs self-attention"));
}
