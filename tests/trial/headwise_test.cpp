// Base class of most attentions: projections of any width, shared and missing projections, memory, rotary positions.
#include "ablate/headwise.h"

#include "core/registry/values.h"
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate;
using namespace ablate::test;

namespace {

constexpr std::int64_t kHeads = 2;

struct NoParts : Parts {
  std::shared_ptr<Attention> attention(const char*, std::size_t, std::int64_t) override { return nullptr; }
  std::shared_ptr<Compression> compression(const char*, Slots, std::int64_t, std::int64_t) override { return nullptr; }
  Capabilities promises(const char*, std::size_t) const override { return {}; }
  Tensor shared(const char*, const std::function<Tensor()>& make) override { return make(); }
};

/// Plain softmax attention that uses every input from the base class. Stores its last input.
class Plain : public HeadwiseAttention {
 public:
  using HeadwiseAttention::d_head;
  using HeadwiseAttention::HeadwiseAttention;
  HeadInput last;

 private:
  HeadOutput attend(const HeadInput& input) override {
    last = input;
    const auto n = input.q.size(2), keys = input.k.size(2);
    auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(input.q.size(3)));
    auto seen = ones({n, keys}, input.q.options().dtype(kBool).requires_grad(false));
    if (causal()) seen = seen.tril(input.offset);
    if (input.mask.defined()) seen = seen.logical_and(input.mask.unsqueeze(1).unsqueeze(1));
    const auto hidden = seen.logical_not();
    return {.values = scores.masked_fill(hidden, -1e300).softmax(-1).masked_fill(hidden, 0).matmul(input.v)};
  }
};

struct Built {
  std::shared_ptr<Plain> attention;
  Plain* operator->() const { return attention.get(); }
  Plain& operator*() const { return *attention; }
};

template <class Made>
std::shared_ptr<Made> built(HeadOptions options, bool causal = false, bool carries = false,
                            Positions positions = Positions::kNone, std::int64_t width = kChannels) {
  options.heads = kHeads;
  const JsonValues values({}, {}, "a test");
  NoParts parts;
  const AttentionContext context{.parameters = values,
                                 .d_model = kChannels,
                                 .width = width,
                                 .max_length = kMaxLength,
                                 .train_length = kMaxLength,
                                 .causal = causal,
                                 .carries = carries,
                                 .positions = positions,
                                 .geometry = {},
                                 .generator = make_generator(1),
                                 .parts = parts};
  return in_double(std::make_shared<Made>(context, options));
}

Built build(HeadOptions options, bool causal = false, bool carries = false, Positions positions = Positions::kNone,
            std::int64_t width = kChannels) {
  return {built<Plain>(options, causal, carries, positions, width)};
}

/// Returns the outputs of segments that end at `ends`. Each segment begins with the state that the segment before returned.
std::vector<Tensor> segments(Attention& attention, const Tensor& x, const Tensor& mask, const std::vector<std::int64_t>& ends) {
  auto state = attention.initial_state(x.size(0));
  std::vector<Tensor> outputs;
  std::int64_t begin = 0;
  for (const auto end : ends) {
    const auto count = end - begin;
    auto result = pass(
        attention,
        {.queries = x.narrow(1, begin, count), .mask = mask.defined() ? mask.narrow(1, begin, count) : mask, .state = state});
    outputs.push_back(result.output);
    state = std::move(result.state);
    begin = end;
  }
  return outputs;
}

}  // namespace

TEST_CASE("with a memory that covers all, segments are attention over the concatenation, with gradients") {
  for (const bool causal : {false, true}) {
    const auto attention = build({.memory = 16}, causal, true);
    const auto x = random_tokens(2, 12, 2).requires_grad_();
    const auto last = segments(*attention, x, {}, {5, 6, 12}).back();
    // The memory is detached: only tokens of the last segment get gradients, and projections get gradients from all tokens.
    const auto own = x.narrow(1, 6, 6).detach().requires_grad_();
    const auto all = cat({x.narrow(1, 0, 6).detach(), own}, 1);
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < 2; ++i) rows.push_back(attend(*attention, "softmax", kHeads, own[i], all[i], causal, 6));
    const auto expected = stack(rows), weights = random_tokens(2, 6, 3);
    INFO("causal " << causal);
    CHECK(distance(last, expected) < 1e-12);
    auto found = gradients(*attention, (last * weights).sum(), {x});
    CHECK(found.back().narrow(1, 0, 6).abs().max().item<double>() == 0);
    found.back() = found.back().narrow(1, 6, 6);
    CHECK(distance(found, gradients(*attention, (expected * weights).sum(), {own})) < 1e-11);
    // The attention without a memory differs, and so does the reference with another causal offset.
    CHECK(distance(run(*attention, {x.narrow(1, 6, 6)}), expected) > 1e-3);
    if (causal) {
      rows.clear();
      for (std::int64_t i = 0; i < 2; ++i) rows.push_back(attend(*attention, "softmax", kHeads, own[i], all[i], true, 5));
      CHECK(distance(last, stack(rows)) > 1e-3);
    }
  }
}

TEST_CASE("a memory stores each item's own last tokens: padding removes no token") {
  const auto attention = build({.memory = 4}, true, true);
  const auto x = random_tokens(2, 9, 2);
  auto dirty = x.clone();
  dirty.select(0, 1).narrow(0, 2, 3).fill_(NAN);
  const auto mask = cat({mask_of(5, {5, 2}), ones({2, 4}, kBool)}, 1);
  const auto last = segments(*attention, dirty, mask, {5, 9}).back();
  CHECK(distance(last[0], attend(*attention, "softmax", kHeads, x[0].narrow(0, 5, 4), x[0].narrow(0, 1, 8), true, 4)) < 1e-12);
  const auto own = cat({x[1].narrow(0, 0, 2), x[1].narrow(0, 5, 4)});
  CHECK(distance(last[1], attend(*attention, "softmax", kHeads, x[1].narrow(0, 5, 4), own, true, 2)) < 1e-12);
}

TEST_CASE("a memory may have another length in evaluation; without states there is no memory") {
  const auto attention = build({.memory = 3, .evaluation_memory = 7}, true, true);
  CHECK(attention->initial_state(2).at(0).sizes() == IntArrayRef({2, 7, kChannels}));
  attention->train();
  CHECK(attention->initial_state(2).at(0).sizes() == IntArrayRef({2, 3, kChannels}));
  CHECK(build({.memory = 3}, true, false)->initial_state(2).empty());
}

TEST_CASE("keys equal to queries come from one projection, with or without padding") {
  const auto shared = build({.keys_are_queries = true}), apart = build({});
  CHECK_FALSE(parameter(*shared, "key.weight").defined());
  {
    NoGradGuard no_grad;
    for (const auto& entry : apart->parameters())
      Tensor(entry.tensor)
          .copy_(parameter(*shared, entry.name.starts_with("key") ? "query" + entry.name.substr(3) : entry.name));
  }
  const auto x = random_tokens(3, 9, 2), queries = random_tokens(3, 4, 3);
  const auto mask = mask_of(9, {9, 4, 1});
  for (const Pass& given : {Pass{x}, Pass{.queries = x, .mask = mask}, Pass{queries, x, mask}}) {
    CHECK(distance(run(*shared, given), run(*apart, given)) < 1e-12);
    if (given.mask.defined())
      CHECK(shared->last.k.masked_select(mask.logical_not().unsqueeze(1).unsqueeze(-1)).abs().sum().item<double>() == 0);
  }
}

TEST_CASE("heads may have other widths, heads divide a part's width, and projections may be left out") {
  const auto attention = build({.d_key = 3, .d_value = 5});
  const auto x = random_tokens(2, 7, 2);
  CHECK(run(*attention, {x}).sizes() == x.sizes());
  CHECK(attention->last.q.sizes() == IntArrayRef({2, kHeads, 7, 3}));
  CHECK(attention->last.v.sizes() == IntArrayRef({2, kHeads, 7, 5}));
  CHECK(parameter(*attention, "output.weight").sizes() == IntArrayRef({kChannels, kHeads * 5}));
  CHECK_THROWS_WITH(attention->d_head(), "d_head(): keys have 3 channels, values 5");
  CHECK(build({.d_key = 5, .d_value = 5})->d_head() == 5);
  CHECK(build({})->d_head() == kChannels / kHeads);
  const auto item = [&](const char* name, std::int64_t d) {
    return split_heads(layer(*attention, name, x), kHeads).size(3) == d;
  };
  CHECK((item("query", 3) && item("key", 3) && item("value", 5)));

  const auto part = build({}, false, false, Positions::kNone, 6);
  CHECK(run(*part, {x}).sizes() == x.sizes());
  CHECK(part->last.q.size(3) == 3);
  CHECK_FALSE(parameter(*build({.queries = false, .keys = false}), "query.weight").defined());
  CHECK_THROWS_WITH(build({}, false, false, Positions::kNone, 7),
                    Catch::Matchers::Contains("heads = 2 does not divide the part's width = 7"));
}

TEST_CASE("rotary scores depend only on relative positions") {
  const auto attention = build({}, false, false, Positions::kRotary);
  const auto x = random_tokens(2, 9, 2);
  const auto at = [&](std::int64_t first) {
    return attention
        ->forward(
            {.queries = x, .context = x, .position = integers(std::vector{first, first + 3}), .generator = make_generator(1)})
        .output;
  };
  const auto start = at(0);
  CHECK(distance(at(40), start) < 1e-11);
  CHECK(distance(at(11'000'000), start) < 1e-7);  // float64 precision of an angle of ten million
  CHECK(distance(start, run(*build({}), {x})) > 1e-3);
  // Eq. 34 of Su et al. 2021, pair by pair.
  const auto q = normal({1, 1, 4, 6}, 3), turned = rotate_positions(q, {}, 5);
  auto expected = zeros_like(q);
  for (std::int64_t j = 0; j < 4; ++j)
    for (std::int64_t i = 0; i < 3; ++i) {
      const double angle = static_cast<double>(5 + j) / std::pow(10000, static_cast<double>(2 * i) / 6);
      const auto a = q[0][0][j][i].item<double>(), b = q[0][0][j][i + 3].item<double>();
      expected[0][0][j][i] = a * std::cos(angle) - b * std::sin(angle);
      expected[0][0][j][i + 3] = a * std::sin(angle) + b * std::cos(angle);
    }
  CHECK(distance(turned, expected) < 1e-12);
  CHECK(distance(rotate_positions(q, {}, 6), expected) > 1e-3);
  CHECK_THROWS_AS(rotate_positions(normal({1, 1, 4, 5}, 3), {}, 0), std::invalid_argument);
}

TEST_CASE("rotary positions with a memory: keys of earlier segments have earlier positions") {
  const auto attention = build({.memory = 16}, true, true, Positions::kRotary);
  const auto x = random_tokens(1, 12, 2);
  auto state = attention->initial_state(1);
  Tensor last;
  for (const std::int64_t begin : {0, 6}) {
    const auto part = x.narrow(1, begin, 6);
    auto result = attention->forward({.queries = part,
                                      .context = part,
                                      .position = integers(std::vector{begin}),
                                      .state = state,
                                      .generator = make_generator(1)});
    last = result.output;
    state = result.state;
  }
  CHECK(distance(last, run(*attention, {x}).narrow(1, 6, 6)) < 1e-11);
}

TEST_CASE("rotary positions distinguish neighbours far into a stream, in every type") {
  const std::int64_t far = 11'000'000;
  const auto q = normal({1, 1, 4, 6}, 3);
  // Rotations add up: the rotation by `far` and then by j equals the rotation by far + j.
  const auto there = rotate_positions(q.narrow(2, 0, 1).expand({-1, -1, 4, -1}), integers(std::vector{far}), 0);
  for (std::int64_t j = 0; j < 4; ++j) {
    const auto on = rotate_positions(there.narrow(2, 0, 1), {}, j);
    CHECK(distance(there.narrow(2, j, 1), on) < 1e-8);
    if (j > 0) CHECK(distance(there.narrow(2, j, 1), there.narrow(2, 0, 1)) > 1e-2);
  }
  const auto narrow = rotate_positions(q.to(kFloat), integers(std::vector{far}), 0);
  CHECK(narrow.scalar_type() == kFloat);
  CHECK(distance(narrow.to(kDouble), rotate_positions(q, integers(std::vector{far}), 0)) < 1e-6);
}

namespace {

/// Attention whose attend() returns an output that `change` has edited.
class Gives final : public Plain {
 public:
  using Plain::Plain;
  std::function<void(HeadOutput&)> change;

 private:
  HeadOutput attend(const HeadInput& input) override {
    HeadOutput output{.values = input.v.narrow(2, input.offset, input.q.size(2)), .state = input.state};
    change(output);
    return output;
  }
  AttentionState heads_state(std::int64_t batch) const override { return {zeros({batch, 3}, kDouble)}; }
};

/// Returns the message of the refusal if `change` edits the output of attend(); "" if the output is accepted.
std::string refusal(const std::function<void(HeadOutput&)>& change, std::int64_t memory = 0) {
  const auto attention = built<Gives>({.memory = memory}, true, true);
  attention->change = change;
  try {
    segments(*attention, random_tokens(2, 6, 2), {}, {6});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a result of attend() with another shape is refused, with the expected shape") {
  CHECK(refusal([](HeadOutput&) {}) == "");
  CHECK(refusal([](HeadOutput& output) { output.values = output.values.narrow(2, 0, 5); }) ==
        "attend() returned values of Double [2, 2, 5, 8] on cpu, expected [2, 2, 6, 8] (batch, heads, length, d_value)");
  CHECK(refusal([](HeadOutput& output) { output.values = output.values.transpose(1, 2); }) ==
        "attend() returned values of Double [2, 6, 2, 8] on cpu, expected [2, 2, 6, 8] (batch, heads, length, d_value)");
  CHECK(refusal([](HeadOutput& output) { output.values = Tensor(); }) ==
        "attend() returned no values, expected [2, 2, 6, 8] (batch, heads, length, d_value)");
  CHECK(refusal([](HeadOutput& output) { output.values = output.values.to(kFloat); }) ==
        "attend() returned values of Float [2, 2, 6, 8] on cpu, expected Double on cpu, as the queries");
}

TEST_CASE("a state of attend() with another shape is refused, and the memory is no part of this state") {
  for (const std::int64_t memory : {0, 4}) {
    INFO(memory);
    CHECK(refusal([](HeadOutput&) {}, memory) == "");
    CHECK(refusal(
              [](HeadOutput& output) {
                output.state = {zeros({2, 4}, kDouble)};
              },
              memory) ==
          "attend() returned a state whose tensor 0 is Double [2, 4] on cpu, expected Double [2, 3] on cpu, as it received");
    CHECK(refusal([](HeadOutput& output) { output.state.clear(); }, memory) ==
          "attend() returned a state of 0 tensors, expected 1, as it received");
    CHECK(refusal([](HeadOutput& output) { output.state = {Tensor()}; }, memory) ==
          "attend() returned a state whose tensor 0 is undefined, expected Double [2, 3] on cpu, as it received");
  }
}
