// `linear` and `performer` after a short convolution of queries, keys and values: their equations over convolved tokens.
#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2, kHead = kChannels / kHeads;

std::shared_ptr<ablate::Attention> convolving(const std::string& id, std::int64_t convolution, bool causal,
                                              bool carries = false) {
  nlohmann::json values = {{"heads", kHeads}, {"convolution", convolution}};
  if (id == "performer") values["features"] = 12;
  return make(section(id, values), 1, {.causal = causal, .carries = carries});
}

/// Returns the weight of each key of k [keys, d] for q [d], up to a factor that depends on the query.
Tensor weights_of(const ablate::Attention& attention, const std::string& id, std::int64_t head, const Tensor& q,
                  const Tensor& k) {
  if (id == "linear") return similarity("elu+1", q, k);
  const auto w = buffer(attention, "features.vectors")[head];
  const auto phi = [&](const Tensor& x) {
    const auto y = x / std::pow(static_cast<double>(kHead), 0.25);
    return (y.matmul(w.t()) - y.square().sum(-1, true) / 2).exp();
  };
  return phi(k).matmul(phi(q));
}

enum class Wrong { kNothing, kPlainQueries, kNoActivation, kLater };

/// Computes one item, x [n, d_model], by the equation.
Tensor expected(const ablate::Attention& attention, const std::string& id, bool causal, const Tensor& x,
                Wrong wrong = Wrong::kNothing) {
  const auto n = x.size(0);
  const auto of = [&](const char* name, std::int64_t begin) {
    const auto y = layer(attention, name, x), filter = parameter(attention, "filter").narrow(0, begin, kChannels);
    if (wrong == Wrong::kLater) return convolved(y.flip({0}), filter).flip({0});
    return wrong == Wrong::kNoActivation ? filtered(y, filter) : convolved(y, filter);
  };
  const auto q = wrong == Wrong::kPlainQueries ? layer(attention, "query", x) : of("query", 0);
  const auto k = of("key", kChannels), v = of("value", 2 * kChannels);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const auto head = [&](const Tensor& all) { return all.narrow(0, 0, causal ? i + 1 : n).narrow(1, h * kHead, kHead); };
      const auto weights = weights_of(attention, id, h, q[i].narrow(0, h * kHead, kHead), head(k));
      parts.push_back(weights.matmul(head(v)) / weights.sum());
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

}  // namespace

TEST_CASE("linear and performer with a short convolution equal their equations on its output, with gradients") {
  for (const std::string id : {"linear", "performer"})
    for (const bool causal : {false, true})
      for (const std::int64_t convolution : {1, 4}) {
        INFO(id << ", causal " << causal << ", convolution " << convolution);
        const auto attention = convolving(id, convolution, causal);
        const std::vector<std::int64_t> lengths = {66, 5};
        const auto x = (random_tokens(2, 66, 2) / 2).requires_grad_(), probe = random_tokens(2, 66, 3);
        const auto output = run(*attention, {x, {}, mask_of(66, lengths)});
        auto loss = ablate::zeros({}, ablate::kDouble), right = loss.clone();
        for (std::int64_t i = 0; i < 2; ++i) {
          const auto n = lengths[static_cast<std::size_t>(i)];
          const auto own = x[i].narrow(0, 0, n), plain = expected(*attention, id, causal, own);
          CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-11);
          for (const auto wrong : {Wrong::kPlainQueries, Wrong::kNoActivation})
            CHECK(distance(plain, expected(*attention, id, causal, own, wrong)) > 1e-4);
          // The filter reads no later token, even if the attention is not causal. A filter of one token reads no other token.
          if (convolution > 1) CHECK(distance(plain, expected(*attention, id, causal, own, Wrong::kLater)) > 1e-4);
          loss = loss + (output[i].narrow(0, 0, n) * probe[i].narrow(0, 0, n)).sum();
          right = right + (plain * probe[i].narrow(0, 0, n)).sum();
        }
        CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-9);
      }
}

TEST_CASE("linear, performer: with a convolution, segments and single tokens give the same as the whole") {
  for (const std::string id : {"linear", "performer"}) {
    const auto attention = convolving(id, 4, true, true);
    const auto x = random_tokens(2, 71, 2) / 2;
    CHECK(distance(by_segments(*attention, x, {1, 1, 2, 30, 37}), run(*attention, {x})) < 1e-11);
  }
}

TEST_CASE("linear, performer, mamba2: a convolution of 0 tokens has no filter, as if no convolution were set") {
  for (const std::string id : {"linear", "performer", "mamba2"}) {
    const auto attention = make(section(id, {{"heads", kHeads}, {"convolution", 0}}), 1, {.causal = true, .carries = true});
    CHECK_FALSE(parameter(*attention, "filter").defined());
    if (id == "mamba2") continue;  // the default of mamba2 is 4
    const auto plain = make(section(id, {{"heads", kHeads}}), 1, {.causal = true, .carries = true});
    const auto x = random_tokens(2, 71, 2);
    CHECK(run(*attention, {x}).equal(run(*plain, {x})));
  }
}

TEST_CASE("linear, performer: with a convolution they do not promise cross-attention, holes or averages") {
  for (const std::string id : {"linear", "performer"})
    for (const std::int64_t convolution : {0, 4}) {
      const auto can = promised_by(section(id, {{"convolution", convolution}}));
      INFO(id << ", convolution " << convolution);
      for (const bool one : {can.averages, can.cross_attention, can.holes}) CHECK(one == (convolution == 0));
      CHECK((can.causal && can.bidirectional && can.recurrent));
    }
}
