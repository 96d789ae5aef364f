// Base class of attentions whose state is a matrix: results of recur() with a wrong shape are refused.
#include "ablate/recurrent.h"

#include "core/registry/values.h"
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;

namespace {

struct NoParts : Parts {
  std::shared_ptr<Attention> attention(const char*, std::size_t, std::int64_t) override { return nullptr; }
  std::shared_ptr<Compression> compression(const char*, Slots, std::int64_t, std::int64_t) override { return nullptr; }
  Capabilities promises(const char*, std::size_t) const override { return {}; }
  Tensor shared(const char*, const std::function<Tensor()>& make) override { return make(); }
};

/// Attention of two heads whose recur() returns a result that `change` has edited.
struct Gives final : RecurrentAttention {
  explicit Gives(const AttentionContext& context) : RecurrentAttention(context, {.heads = 2, .gate = true}) {}
  Recurred recur(const Recurrence& of, const HeadInput&) override {
    Recurred given{.values = of.v, .state = of.state};
    change(given);
    return given;
  }
  std::function<void(Recurred&)> change;
};

/// Returns the message of the refusal if `change` edits the result of recur(); "" if the result is accepted.
std::string refusal(const std::function<void(Recurred&)>& change) {
  const JsonValues values({}, {}, "a test");
  NoParts parts;
  const auto attention = in_double(std::make_shared<Gives>(AttentionContext{.parameters = values,
                                                                            .d_model = kChannels,
                                                                            .width = kChannels,
                                                                            .max_length = kMaxLength,
                                                                            .train_length = kMaxLength,
                                                                            .causal = true,
                                                                            .carries = true,
                                                                            .geometry = {},
                                                                            .generator = make_generator(1),
                                                                            .parts = parts}));
  attention->change = change;
  const auto x = random_tokens(2, 6, 2);
  try {
    attention->forward({.queries = x, .context = x, .state = attention->initial_state(2), .generator = make_generator(1)});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a result of recur() with another shape is refused, with the expected shape") {
  CHECK(refusal([](Recurred&) {}) == "");
  CHECK(refusal([](Recurred& given) { given.values = given.values.narrow(3, 0, 7); }) ==
        "recur() returned values of Double [2, 2, 6, 7] on cpu, expected [2, 2, 6, 8] (batch, heads, length, d_value)");
  CHECK(refusal([](Recurred& given) { given.values = Tensor(); }) ==
        "recur() returned no values, expected [2, 2, 6, 8] (batch, heads, length, d_value)");
  CHECK(refusal([](Recurred& given) { given.state = given.state.narrow(2, 0, 4); }) ==
        "attend() returned a state whose tensor 0 is Double [2, 2, 4, 8] on cpu, expected Double [2, 2, 8, 8] on cpu, "
        "as it received");
}
