// Softmax attention against its equations: with a forget gate (Lin et al. 2025), with gated outputs (Qiu et al. 2025), and with
// keys and values of a latent (DeepSeek-V2).
#include "tests/plugins/equations.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

/// Forget gates that reduce a key's weight: the gates of the tokens after the key, or (wrong) the key's own gate, too.
enum class Forgets { kBetween, kOwn };

/// Computes one item, x [n, d_model], query by query: exp(q k / sqrt(d)) times the gates of the tokens after the key.
ablate::Tensor forgetting(const ablate::Attention& attention, const ablate::Tensor& x, const Tensor& sink = {},
                          Forgets how = Forgets::kBetween) {
  const auto split = [&](const char* name) { return layer(attention, name, x).unflatten(-1, {2, -1}); };
  const auto q = split("query"), k = split("key"), v = split("value");  // [n, heads, d]
  const auto f = layer(attention, "forget", x).sigmoid();               // [n, heads]
  std::vector<ablate::Tensor> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    std::vector<ablate::Tensor> parts;
    for (std::int64_t h = 0; h < 2; ++h) {
      auto above = ablate::zeros({v.size(2)}, ablate::kDouble),
           below = sink.defined() ? sink[h].exp() : ablate::zeros({}, ablate::kDouble);
      auto left = ablate::ones({}, ablate::kDouble);
      for (std::int64_t j = i; j >= 0; --j) {
        if (how == Forgets::kOwn) left = left * f[j][h];
        const auto weight = left * similarity("softmax", q[i][h], k[j][h].unsqueeze(0)).squeeze();
        above = above + weight * v[j][h], below = below + weight;
        if (how == Forgets::kBetween) left = left * f[j][h];
      }
      parts.push_back(above / below);
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

std::shared_ptr<ablate::Attention> forgetful(const nlohmann::json& more = nlohmann::json::object()) {
  nlohmann::json values = {{"heads", 2}, {"forget_gate", true}};
  values.update(more);
  return make(section("softmax", values), 1, {.causal = true});
}

}  // namespace

TEST_CASE("softmax with a forget gate equals its equation, padded, with holes, with a sink, in gradients") {
  for (const bool sink : {false, true}) {
    INFO("sink " << sink);
    const auto attention = forgetful({{"sink", sink}});
    if (sink) {
      const ablate::NoGradGuard none;
      parameter(*attention, "sink").fill_(0.7);
    }
    const auto score = sink ? parameter(*attention, "sink") : Tensor();
    check_equation(*attention, {9, 4}, [&](const auto& own) { return forgetting(*attention, own, score); });
    const auto x = random_tokens(2, 9, 2);
    for (const auto& own : {x[0], x[1].narrow(0, 0, 4)})
      CHECK(distance(forgetting(*attention, own, score), forgetting(*attention, own, score, Forgets::kOwn)) > 1e-3);
    // Absent tokens forget nothing.
    auto holes = ablate::ones({1, 9}, ablate::kBool);
    holes[0][0] = holes[0][4] = false;
    const auto present = ablate::integers(std::vector<std::int64_t>{1, 2, 3, 5, 6, 7, 8});
    const auto some = run(*attention, {x.narrow(0, 0, 1), {}, holes})[0].index_select(0, present);
    CHECK(distance(some, forgetting(*attention, x[0].index_select(0, present), score)) < 1e-12);
  }
}

TEST_CASE("softmax that forgets nothing equals softmax; softmax that forgets all earlier tokens reads a token's own value") {
  const auto x = random_tokens(2, 9, 2);
  const auto attention = forgetful(), plain = make(section("softmax"), 1, {.causal = true});
  const ablate::NoGradGuard none;
  copy_parameters(*attention, *plain);
  parameter(*attention, "forget.weight").zero_();
  parameter(*attention, "forget.bias").fill_(100);
  CHECK(distance(run(*attention, {x}), run(*plain, {x})) < 1e-13);
  parameter(*attention, "forget.bias").fill_(-1000);
  CHECK(distance(run(*attention, {x}), layer(*attention, "output", layer(*attention, "value", x))) < 1e-12);
}

TEST_CASE("far into a sequence, forgetting in float32 keeps its precision") {
  const auto exact = forgetful();
  const auto x = random_tokens(1, 3000, 2);
  const ablate::NoGradGuard none;
  parameter(*exact, "forget.bias").fill_(-1);
  const auto expected = run(*exact, {x});
  ablate::move_to(*exact, at::kCPU, ablate::kFloat);
  CHECK(distance(run(*exact, {x.to(ablate::kFloat)}).to(ablate::kDouble), expected) < 3e-6);
}

TEST_CASE("a gate multiplies the heads' reads by a sigmoid of the layer's input, also across sequences") {
  for (const bool cross : {false, true}) {
    INFO("cross " << cross);
    const auto attention = make(section("softmax", {{"gate", true}})), plain = make(section("softmax"));
    {
      const ablate::NoGradGuard none;
      copy_parameters(*attention, *plain);
    }
    const auto x = random_tokens(2, 9, 2).requires_grad_(), seed = random_tokens(2, 9, 5);
    const auto context = cross ? random_tokens(2, 7, 3) : x;
    const auto split = [&](const char* name, const Tensor& of) { return ablate::split_heads(layer(*attention, name, of), 2); };
    const auto read = ablate::scaled_dot_product_attention(split("query", x), split("key", context), split("value", context));
    const auto gate = x.matmul(parameter(*attention, "gate.weight").t()).sigmoid();
    const auto expected = layer(*attention, "output", ablate::merge_heads(read) * gate);
    const auto found = run(*attention, {x, cross ? context : Tensor()});
    CHECK(distance(found, expected) < 1e-12);
    CHECK(distance(gradients(*attention, (found * seed).sum(), {x}), gradients(*attention, (expected * seed).sum(), {x})) <
          1e-11);
    CHECK(distance(found, run(*plain, {x, cross ? context : Tensor()})) > 1e-3);
  }
}

namespace {

/// Computes one item, x [n, d_model], under multi-head latent attention, head by head. Without `norm` the result is wrong.
Tensor of_latent(const ablate::Attention& attention, const Tensor& x, bool causal, bool rotary, bool norm = true) {
  const auto map = [&](const char* name, const Tensor& of) {
    return of.matmul(parameter(attention, name + std::string(".weight")).t());
  };
  auto c = map("latent", x);
  if (norm) c = c * (c.square().mean(-1, true) + 1e-5).rsqrt();
  c = c * parameter(attention, "latent_gain");
  const auto split = [](const Tensor& of, std::int64_t heads) { return ablate::split_heads(of.unsqueeze(0), heads); };
  auto q = split(layer(attention, "query", x), 2), k = split(map("key", c), 2);
  const auto v = split(map("value", c), 2);
  if (rotary) {
    const auto turned = [&](const char* name, std::int64_t heads) {
      return ablate::rotate_positions(split(map(name, x), heads), {}, 0);
    };
    q = ablate::cat({q, turned("turned_query", 2)}, 3);
    k = ablate::cat({k, turned("turned_key", 1).expand({-1, 2, -1, -1})}, 3);
  }
  auto scores = q.matmul(k.transpose(2, 3)) / std::sqrt(static_cast<double>(q.size(3)));
  if (causal) scores = scores.masked_fill(ablate::ones({x.size(0), x.size(0)}, ablate::kBool).triu(1), -INFINITY);
  return layer(attention, "output", ablate::merge_heads(scores.softmax(-1).matmul(v)).squeeze(0));
}

}  // namespace

TEST_CASE("softmax over keys and values of a latent equals its equation, padded and not, rotary and not, in gradients") {
  for (const bool causal : {false, true})
    for (const bool rotary : {false, true}) {
      INFO("causal " << causal << ", rotary " << rotary);
      const auto attention =
          make(section("softmax", {{"latent", 6}}), 1,
               {.causal = causal, .positions = rotary ? ablate::Positions::kRotary : ablate::Positions::kNone});
      {
        const ablate::NoGradGuard none;
        parameter(*attention, "latent_gain").copy_(normal({6}, 5) + 2);  // different from its initial value
      }
      check_equation(*attention, {9, 4}, [&](const auto& own) { return of_latent(*attention, own, causal, rotary); });
      const auto x = random_tokens(2, 9, 2);
      for (const auto& own : {x[0], x[1].narrow(0, 0, 4)})
        CHECK(distance(of_latent(*attention, own, causal, rotary), of_latent(*attention, own, causal, rotary, false)) > 1e-3);
    }
  CHECK_THROWS_WITH(make(section("softmax", {{"latent", 6}, {"key_value_heads", 1}})),
                    Catch::Matchers::Contains("key_value_heads = 1 cannot be used with latent = 6"));
}
