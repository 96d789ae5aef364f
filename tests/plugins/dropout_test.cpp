// Dropout of attention weights against its equation, in softmax, local and transformer-xl.
#include "ablate/dropout.h"

#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

/// Returns softmax(q k^T / sqrt(d) + mask) v in plain operators. Drops weights by the draws of dropped_attention(), in pieces
/// of `rows` queries.
Tensor plainly(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask, bool causal, double p,
               const ablate::Generator& generator, std::int64_t rows) {
  auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(q.size(3)));
  if (mask.defined()) scores = scores.masked_fill(mask.logical_not(), -INFINITY);
  if (causal) scores = scores.masked_fill(ablate::ones({q.size(2), k.size(2)}, ablate::kBool).triu(1), -INFINITY);
  const auto weights = scores.softmax(-1);
  std::vector<Tensor> pieces;
  for (const auto& piece : weights.split(rows, 2)) pieces.push_back(ablate::drop(piece, p, generator));
  return ablate::cat(pieces, 2).matmul(v);
}

std::shared_ptr<ablate::Attention> dropping(const std::string& id, const nlohmann::json& parameters, double p, bool causal) {
  auto made = make(section(id, parameters), 1, {.causal = causal, .dropout = p});
  made->train();
  return made;
}

}  // namespace

TEST_CASE("attention with dropped weights equals its equation, with gradients, even if queries come in pieces") {
  const std::int64_t batch = 1, heads = 2, n = 1500, keys = 700, d = 4;
  const auto rows = (std::int64_t{1} << 20) / (batch * heads * keys);
  REQUIRE(rows < n);
  auto q = normal({batch, heads, n, d}, 1).requires_grad_(), k = normal({batch, heads, keys, d}, 2).requires_grad_(),
       v = normal({batch, heads, keys, d}, 3).requires_grad_();
  const auto weight = normal({batch, heads, n, d}, 4);
  for (const bool masked : {false, true}) {
    const auto mask = masked ? mask_of(keys, {600}).unsqueeze(1).unsqueeze(1) : Tensor();
    for (const bool causal : {false, true}) {
      const auto one = ablate::dropped_attention(q, k, v, mask, causal, 0.3, ablate::make_generator(5));
      const auto other = plainly(q, k, v, mask, causal, 0.3, ablate::make_generator(5), rows);
      INFO("masked " << masked << ", causal " << causal);
      CHECK(distance(one, other) < 1e-12);
      const auto of = [&](const Tensor& output) { return torch::autograd::grad({(output * weight).sum()}, {q, k, v}); };
      CHECK(distance(of(one), of(other)) < 1e-11);
    }
  }
}

TEST_CASE("attentions that drop weights give other outputs for another seed, and drop nothing in evaluation") {
  const auto x = random_tokens(2, 12, 2);
  for (const auto& [id, parameters] : std::vector<std::pair<std::string, nlohmann::json>>{
           {"softmax", nlohmann::json::object()}, {"local", {{"window", 4}}}, {"transformer-xl", {{"memory", 0}}}}) {
    INFO(id);
    const auto attention = dropping(id, parameters, 0.5, true), none = dropping(id, parameters, 0, true);
    const auto one = run(*attention, {.queries = x, .seed = 1});
    CHECK(run(*attention, {.queries = x, .seed = 1}).equal(one));
    CHECK(distance(run(*attention, {.queries = x, .seed = 2}), one) > 1e-3);
    CHECK(distance(run(*none, {.queries = x, .seed = 1}), one) > 1e-3);
    attention->eval();
    none->eval();
    CHECK(run(*attention, {x}).equal(run(*none, {x})));
  }
}

TEST_CASE("an attention that does not promise to drop weights is refused if the model drops weights") {
  CHECK_THROWS_WITH(dropping("linear", nlohmann::json::object(), 0.1, false),
                    Catch::Matchers::Contains("attention linear does not promise to drop attention weights"));
}
