// Retention against its parallel form (Eq. 5), query by query, with decays, angles, norm and gate of Eq. 8.
#include "tests/plugins/recurrent.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2;

enum class Wrong { kNothing, kOneGamma, kNormOverHeads, kOtherNorm };

/// Returns the product of q_i and k_j, both rotated by their positions. It depends only on the distance of the positions.
Tensor turned_product(const Tensor& q, const Tensor& k, std::int64_t distance) {
  const auto half = q.size(0) / 2;
  auto sum = ablate::zeros({}, ablate::kDouble);
  for (std::int64_t c = 0; c < half; ++c) {
    const double angle = static_cast<double>(distance) * std::pow(10000, -static_cast<double>(c) / static_cast<double>(half));
    sum = sum + (q[c] * k[c] + q[c + half] * k[c + half]) * std::cos(angle) +
          (q[c] * k[c + half] - q[c + half] * k[c]) * std::sin(angle);
  }
  return sum;
}

/// Computes one item, x [n, d_model]. If `centred`, the norm uses mean and deviation.
Tensor retain(const ablate::Attention& attention, const Tensor& x, Wrong wrong = Wrong::kNothing, bool centred = true) {
  centred = centred != (wrong == Wrong::kOtherNorm);
  const auto q = by_heads(layer(attention, "query", x), kHeads), k = by_heads(layer(attention, "key", x), kHeads),
             v = by_heads(layer(attention, "value", x), kHeads);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t h = 0; h < kHeads; ++h) {
      const double gamma = 1 - std::pow(2, -5 - static_cast<double>(wrong == Wrong::kOneGamma ? 0 : h));
      auto sum = ablate::zeros({v.size(2)}, ablate::kDouble);
      for (std::int64_t j = 0; j <= i; ++j) {
        const auto decays = static_cast<double>(i - j);
        sum = sum + std::pow(gamma, decays) * turned_product(q[i][h], k[j][h], i - j) * v[j][h];
      }
      parts.push_back(sum / std::sqrt(static_cast<double>(q.size(2))));
    }
    rows.push_back(wrong == Wrong::kNormOverHeads ? plainly_normed(ablate::cat(parts), centred)
                                                  : plainly_normed(ablate::stack(parts), centred).flatten());
  }
  return layer(attention, "output", ablate::stack(rows) * swish(layer(attention, "gate", x)));
}

std::shared_ptr<ablate::Attention> retention(nlohmann::json parameters = nlohmann::json::object(), bool carries = false) {
  parameters["heads"] = kHeads;
  return make(section("retention", parameters), 1, {.causal = true, .carries = carries});
}

const nlohmann::json kPlain = {{"decay", "none"}, {"rotation", false}, {"norm", false}, {"gate", false}, {"value_width", 1.0}};

}  // namespace

TEST_CASE("retention equals its equation, with gradients") {
  for (const auto& [n, norm] : std::vector<std::pair<std::int64_t, std::string>>{
           {1, "layer"}, {2, "layer"}, {9, "layer"}, {70, "layer"}, {9, "rms"}, {70, "rms"}}) {
    const auto attention = retention({{"norm_kind", norm}});
    const auto by_hand = [&](const Tensor& item) { return retain(*attention, item, Wrong::kNothing, norm == "layer"); };
    const auto x = random_tokens(2, n, 2).requires_grad_(), weights = random_tokens(2, n, 3);
    const auto output = run(*attention, {x});
    const auto expected = ablate::stack(std::vector{by_hand(x[0]), by_hand(x[1])});
    INFO("n " << n << ", " << norm);
    CHECK(distance(output, expected) < 1e-12);
    if (n > 9) continue;
    CHECK(distance(gradients(*attention, (output * weights).sum(), {x}),
                   gradients(*attention, (expected * weights).sum(), {x})) < 1e-11);
  }
}

TEST_CASE("retention differs from one decay for all heads and from a norm over all heads; the own token does not decay") {
  // A factor of all channels of a head, such as a decay of the own token, is hidden by the norm, and visible without the norm.
  const auto attention = retention();
  const auto x = random_tokens(1, 20, 2);
  const auto output = run(*attention, {x})[0];
  for (const auto wrong : {Wrong::kOneGamma, Wrong::kNormOverHeads, Wrong::kOtherNorm})
    CHECK(distance(output, retain(*attention, x[0], wrong)) > 1e-4);
  const auto bare = retention({{"norm", false}, {"gate", false}, {"rotation", false}, {"value_width", 1.0}});
  const auto first = run(*bare, {x.narrow(1, 0, 1)})[0];
  CHECK(distance(first, unnormalised_linear(*bare, kHeads, x[0].narrow(0, 0, 1))) < 1e-12);
}

TEST_CASE("retention by segments, each with its position, equals the whole") {
  const auto attention = retention(nlohmann::json::object(), true);
  const auto x = random_tokens(2, 75, 2);
  const auto whole = run(*attention, {.queries = x, .state = attention->initial_state(2)});
  CHECK(distance(by_segments(*attention, x, {5, 1, 65, 4}), whole) < 1e-11);
}

TEST_CASE("retention without decay, rotation, norm and gate equals linear attention without a normaliser, with gradients") {
  const auto attention = retention(kPlain);
  const auto x = random_tokens(1, 12, 2).requires_grad_(), weights = random_tokens(1, 12, 3);
  const auto output = run(*attention, {x}), expected = unnormalised_linear(*attention, kHeads, x[0]).unsqueeze(0);
  CHECK(distance(output, expected) < 1e-12);
  CHECK(distance(gradients(*attention, (output * weights).sum(), {x}), gradients(*attention, (expected * weights).sum(), {x})) <
        1e-11);
}

TEST_CASE("retention refuses fractional widths, and rotation of an odd width") {
  CHECK_THROWS_WITH(make(section("retention", {{"heads", 3}}), 1, {.causal = true}),
                    Catch::Matchers::Contains("key_width = 1 of 16 channels is 5.33333 for each of 3 heads"));
  CHECK_THROWS_WITH(make(section("retention", {{"value_width", 0.125}}), 1, {.causal = true}),
                    Catch::Matchers::Contains("value_width leaves one channel of a value"));
  CHECK_THROWS_WITH(make(section("retention", {{"heads", 16}}), 1, {.causal = true}),
                    Catch::Matchers::Contains("heads = 16 leaves 1 channels per key; rotation needs an even number"));
}
