// Linear attention: its parallel, chunked and recurrent forms, and segments with a state, give the same sum over keys.
#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::AttentionState;
using ablate::Tensor;

namespace {

/// Returns outputs of segments that end at `ends`, side by side. Each segment starts with the state after the previous segment.
Tensor by_segments(ablate::Attention& attention, const Tensor& x, const Tensor& mask, const std::vector<std::int64_t>& ends) {
  auto state = attention.initial_state(x.size(0));
  std::vector<Tensor> outputs;
  std::int64_t begin = 0;
  for (const auto end : ends) {
    auto result = pass(attention, {.queries = x.narrow(1, begin, end - begin),
                                   .mask = mask.defined() ? mask.narrow(1, begin, end - begin) : mask,
                                   .state = state});
    outputs.push_back(result.output);
    state = std::move(result.state);
    begin = end;
  }
  return ablate::cat(outputs, 1);
}

}  // namespace

TEST_CASE("linear attention: the parallel and the chunked form equal the sum over keys") {
  for (const std::string map : {"elu+1", "relu"})
    for (const bool causal : {false, true})
      for (const bool cross : {false, true}) {
        const auto attention = make(section("linear", {{"heads", 2}, {"feature_map", map}}), 1, {.causal = causal});
        INFO(map << ", causal " << causal << ", cross " << cross);
        CHECK(off(*attention, map, 2, causal, cross) < 1e-12);
      }
}

TEST_CASE("linear attention: the chunked form equals the recurrent form") {
  // The recurrent form (Eq. 16 to 20): sums of phi(k) v^T and of phi(k), from token to token. Lengths are around the
  // chunk of 64.
  const auto attention = make(section("linear", {{"heads", 2}}), 1, {.causal = true});
  for (const std::int64_t n : {1, 63, 64, 65, 80}) {
    const auto x = random_tokens(1, n, 2);
    const auto split = [&](const char* name) { return layer(*attention, name, x[0]).unflatten(-1, {2, 8}); };
    const auto phi = [](const Tensor& t) { return (t + 1).where(t > 0, t.exp()); };
    const auto q = phi(split("query")), k = phi(split("key")), v = split("value");  // [n, heads, d]
    auto state = ablate::zeros({2, 8, 8}, ablate::kDouble), total = ablate::zeros({2, 8}, ablate::kDouble);
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < n; ++i) {
      state = state + k[i].unsqueeze(-1) * v[i].unsqueeze(-2);
      total = total + k[i];
      const auto read = q[i].unsqueeze(-2).matmul(state).squeeze(-2);
      rows.push_back((read / (q[i] * total).sum(-1, true)).flatten());
    }
    CHECK(distance(run(*attention, {x})[0], layer(*attention, "output", ablate::stack(rows))) < 1e-12);
  }
}

TEST_CASE("linear attention: a whole sequence, its segments and its single tokens give the same outputs and gradients") {
  const std::int64_t n = 80;
  std::vector<std::int64_t> tokens(n);
  for (std::int64_t i = 0; i < n; ++i) tokens[static_cast<std::size_t>(i)] = i + 1;
  for (const std::string map : {"elu+1", "relu"}) {
    const auto attention = make(section("linear", {{"feature_map", map}}), 1, {.causal = true, .carries = true});
    for (const auto& state : attention->initial_state(3)) CHECK(state.abs().max().item<double>() == 0);
    const auto x = random_tokens(3, n, 2).requires_grad_();
    const auto mask = mask_of(n, {n, 30, 7});
    const auto real = mask.unsqueeze(-1), weights = random_tokens(3, n, 3) * real;
    const auto whole = run(*attention, {x, {}, mask});
    const auto expected = gradients(*attention, (whole * weights).sum(), {x});
    for (const auto& ends : {std::vector<std::int64_t>{n}, {7, 8, 30, n}, {70, n}, tokens}) {
      INFO(map << ", " << ends.size() << " segments");
      const auto found = by_segments(*attention, x, mask, ends);
      CHECK(distance(found * real, whole * real) < 1e-12);
      CHECK(distance(gradients(*attention, (found * weights).sum(), {x}), expected) < 1e-10);
    }
    // Without the state a segment does not know earlier segments.
    CHECK(distance(run(*attention, {x.narrow(1, 70, 10)})[0], whole[0].narrow(0, 70, 10)) > 1e-3);
  }
}

TEST_CASE("linear attention: padding does not change the state, and each item has its own state") {
  for (const bool causal : {false, true}) {
    const auto attention = make(section("linear"), 1, {.causal = causal, .carries = true});
    const auto x = random_tokens(3, 9, 2);
    const auto start = pass(*attention, {.queries = random_tokens(3, 5, 4), .state = attention->initial_state(3)}).state;
    auto dirty = x.clone();
    dirty.select(0, 1).narrow(0, 4, 5).fill_(NAN);
    dirty.select(0, 2).fill_(NAN);
    const auto padded = pass(*attention, {.queries = dirty, .mask = mask_of(9, {9, 4, 0}), .state = start});
    for (std::size_t part = 0; part < start.size(); ++part) CHECK(padded.state[part][2].equal(start[part][2]));
    for (const auto& [item, length] : {std::pair<std::int64_t, std::int64_t>{0, 9}, {1, 4}}) {
      AttentionState own;
      for (const auto& tensor : start) own.push_back(tensor.narrow(0, item, 1));
      const auto alone = pass(*attention, {.queries = x.narrow(0, item, 1).narrow(1, 0, length), .state = own});
      CHECK(distance(padded.output[item].narrow(0, 0, length), alone.output[0]) < 1e-12);
      for (std::size_t part = 0; part < start.size(); ++part)
        CHECK(distance(padded.state[part][item], alone.state[part][0]) < 1e-12);
    }
  }
}

TEST_CASE("linear attention: a segment that is not causal sees itself and all earlier segments") {
  const auto attention = make(section("linear"), 1, {.carries = true});
  const auto x = random_tokens(2, 12, 2);
  const auto last = by_segments(*attention, x, {}, {5, 12}).narrow(1, 5, 7);
  CHECK(distance(last, run(*attention, {x.narrow(1, 5, 7), x})) < 1e-12);
}

TEST_CASE("linear attention without its normaliser is divided by the root of the maximum length, for items of any length") {
  for (const std::string map : {"elu+1", "relu"})
    for (const bool causal : {false, true}) {
      INFO(map << ", causal " << causal);
      const auto attention = make(section("linear", {{"feature_map", map}, {"normaliser", "length"}}), 1, {.causal = causal});
      const auto x = random_tokens(2, 70, 2).requires_grad_();
      const auto split = [&](const char* name) { return layer(*attention, name, x[0]).unflatten(-1, {2, 8}).transpose(0, 1); };
      const auto phi = [&](const Tensor& t) { return map == "relu" ? t.relu() : (t + 1).where(t > 0, t.exp()); };
      auto weights =
          phi(split("query")).matmul(phi(split("key")).transpose(-1, -2)) / std::sqrt(static_cast<double>(kMaxLength));
      if (causal) weights = weights.tril();
      // The second item has 5 tokens.
      const auto mask = mask_of(70, {70, 5});
      const auto whole = layer(*attention, "output", weights.matmul(split("value")).transpose(0, 1).flatten(1));
      const auto part = weights.narrow(1, 0, 5).narrow(2, 0, 5);
      const auto output = run(*attention, {x, {}, mask});
      CHECK(distance(output[0], whole) < 1e-12);
      const auto probe = random_tokens(1, 70, 3)[0];
      CHECK(distance(gradients(*attention, (output[0] * probe).sum(), {x}), gradients(*attention, (whole * probe).sum(), {x})) <
            1e-10);
      const auto twin = x.detach()[0].unsqueeze(0);
      const auto padded = run(*attention, {ablate::cat({twin, twin}), {}, mask})[1];
      const auto short_item =
          layer(*attention, "output", part.matmul(split("value").narrow(1, 0, 5)).transpose(0, 1).flatten(1));
      CHECK(distance(padded.narrow(0, 0, 5), short_item) < 1e-12);
    }
  // The state has the same form as with a normaliser, but a read does not use the divisor in the state.
  const auto attention = make(section("linear", {{"normaliser", "length"}}), 1, {.causal = true, .carries = true});
  const auto x = random_tokens(2, 80, 4);
  CHECK(distance(by_segments(*attention, x, {}, {7, 30, 80}), run(*attention, {x})) < 1e-12);
}

TEST_CASE("linear attention: queries and keys far below 0 have the equation's weights, and weights that underflow are 0") {
  for (const bool causal : {false, true}) {
    const auto attention = make(section("linear", {{"heads", 2}}), 1, {.causal = causal});
    const auto shift = [&](double by) {
      ablate::NoGradGuard no_grad;
      for (const auto* name : {"query.bias", "key.bias"}) parameter(*attention, name).add_(by);
    };
    shift(-20);  // if computed as elu(x) + 1, features would lose half of their digits
    CHECK(off(*attention, "elu+1", 2, causal, false) < 1e-12);
    shift(-180);  // each feature is e^-200; the square of a product of two, e^-800, is 0
    const auto x = random_tokens(2, 9, 2).requires_grad_();
    const auto output = run(*attention, {x});
    CHECK(distance(output, parameter(*attention, "output.bias").expand_as(output)) == 0);
    for (const auto& gradient : gradients(*attention, output.sum(), {x})) CHECK(gradient.isfinite().all().item<bool>());
  }
}
