// Random feature attention against its recurrence, and its features against the Gaussian kernel.
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2, kFeatures = 24;

std::shared_ptr<ablate::Attention> rfa(const std::string& kernel, bool causal, bool gate = true, bool carries = false,
                                       std::int64_t features = kFeatures, std::uint64_t seed = 1) {
  return make(section("rfa", {{"heads", kHeads}, {"features", features}, {"kernel", kernel}, {"gate", gate}}), seed,
              {.causal = causal, .carries = carries});
}

/// Returns the features of x [n, d].
Tensor phi(const ablate::Attention& attention, const std::string& kernel, std::int64_t head, const Tensor& x) {
  const auto unit = x / x.norm(2, 1, true);
  const auto w = buffer(attention, "features.vectors")[head] * parameter(attention, "width")[head];
  const auto phase = unit.matmul(w.t());
  const auto m = static_cast<double>(w.size(0));
  if (kernel == "arc-cosine") return phase.clamp_min(0) / std::sqrt(m);
  return ablate::cat({phase.sin(), phase.cos()}, 1) / std::sqrt(m);
}

/// Computes S = g S + (1 - g) phi(k) v^T and z = g z + (1 - g) phi(k) token by token (section 3.2). Without `causal` all
/// queries read the last S and z. `bent` counts the Gaussian sums that are replaced by their minimum, bound / 1000
/// (README.md).
Tensor expected(const ablate::Attention& attention, const std::string& kernel, const Tensor& x, bool causal, bool gated,
                int* bent = nullptr) {
  const auto q = layer(attention, "query", x), k = layer(attention, "key", x), v = layer(attention, "value", x);
  const auto d = q.size(1) / kHeads, n = x.size(0);
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto of = [&](const Tensor& all) { return all.narrow(1, h * d, d); };
    const auto queries = phi(attention, kernel, h, of(q)), keys = phi(attention, kernel, h, of(k));
    const auto g = gated ? layer(attention, "gate", x).select(1, h).sigmoid() : Tensor();
    auto s = ablate::zeros({keys.size(1), d}, ablate::kDouble), z = ablate::zeros({keys.size(1)}, ablate::kDouble),
         bound = ablate::zeros({}, ablate::kDouble);  // bound of the weights' sum: no weight is above 1
    std::vector<Tensor> rows;
    const auto read = [&](std::int64_t i) {
      auto sum = queries[i].dot(z);
      if (kernel == "gaussian") {
        if (bent != nullptr && sum.item<double>() < bound.item<double>() / 1000) ++*bent;
        sum = sum.maximum(bound / 1000);
      }
      return queries[i].matmul(s) / sum;
    };
    for (std::int64_t i = 0; i < n; ++i) {
      const auto keep = gated ? g[i] : ablate::ones({}, ablate::kDouble);
      const auto share = gated ? 1 - g[i] : ablate::ones({}, ablate::kDouble);
      s = s * keep + keys[i].unsqueeze(1) * of(v)[i].unsqueeze(0) * share;
      z = z * keep + keys[i] * share;
      bound = bound * keep + share;
      if (causal) rows.push_back(read(i));
    }
    for (std::int64_t i = 0; !causal && i < n; ++i) rows.push_back(read(i));
    heads.push_back(ablate::stack(rows));
  }
  return layer(attention, "output", ablate::cat(heads, 1));
}

}  // namespace

TEST_CASE("rfa equals its recurrence, gated and not, causal and not, padded and not, with gradients") {
  for (const std::string kernel : {"gaussian", "arc-cosine"})
    for (const bool causal : {false, true})
      for (const bool gate : {false, true}) {
        const auto attention = rfa(kernel, causal, gate);
        const std::vector<std::int64_t> lengths = {70, 13, 1};
        const auto x = random_tokens(3, 70, 2).requires_grad_(), weights = random_tokens(3, 70, 3);
        const auto output = run(*attention, {x, {}, mask_of(70, lengths)});
        auto loss = ablate::zeros({}, ablate::kDouble), right = ablate::zeros({}, ablate::kDouble);
        for (std::int64_t i = 0; i < 3; ++i) {
          INFO(kernel << ", causal " << causal << ", gate " << gate << ", item " << i);
          const auto n = lengths[i];
          const auto own = x[i].narrow(0, 0, n);
          const auto plain = expected(*attention, kernel, own, causal, causal && gate);
          CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-10);
          loss = loss + (output[i].narrow(0, 0, n) * weights[i].narrow(0, 0, n)).sum();
          right = right + (plain * weights[i].narrow(0, 0, n)).sum();
        }
        CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-8);
      }
}

TEST_CASE("rfa: sums of weights are at least a thousandth of their bound, with gradients") {
  for (const bool causal : {false, true}) {
    const auto attention = rfa("gaussian", causal, true, false, 4);
    {
      ablate::NoGradGuard none;
      CHECK(distance(parameter(*attention, "width"), ablate::ones({kHeads, 1, kChannels / kHeads}, ablate::kDouble)) == 0);
      parameter(*attention, "width").fill_(6);  // phases of many turns: cosines of either sign
    }
    const auto x = random_tokens(1, 70, 2).requires_grad_(), weights = random_tokens(1, 70, 3);
    int bent = 0;
    const auto output = run(*attention, {x}),
               right = expected(*attention, "gaussian", x[0], causal, causal, &bent).unsqueeze(0);
    INFO("causal " << causal << ", " << bent << " of 140");
    CHECK(bent > 10);
    CHECK(bent < 130);
    const auto size = right.abs().max().item<double>();
    CHECK(distance(output / size, right / size) < 1e-12);
    const auto found = gradients(*attention, (output * weights / size).sum(), {x}),
               slopes = gradients(*attention, (right * weights / size).sum(), {x});
    double largest = 1;
    for (const auto& slope : slopes) largest = std::max(largest, slope.abs().max().item<double>());
    CHECK(distance(found, slopes) < 1e-10 * largest);
  }
}

TEST_CASE("with more features, rfa approaches attention with the Gaussian kernel of normalised queries and keys") {
  const auto x = random_tokens(1, 24, 2);
  std::vector<double> errors;
  for (const std::int64_t features : {16, 256, 4096}) {
    double squares = 0;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      const auto attention = rfa("gaussian", false, true, false, features, seed);
      const auto q = layer(*attention, "query", x[0]), k = layer(*attention, "key", x[0]), v = layer(*attention, "value", x[0]);
      std::vector<Tensor> heads;
      for (std::int64_t h = 0; h < kHeads; ++h) {
        const auto d = kChannels / kHeads;
        const auto unit = [&](const Tensor& all) { return all.narrow(1, h * d, d) / all.narrow(1, h * d, d).norm(2, 1, true); };
        heads.push_back(unit(q).matmul(unit(k).t()).softmax(-1).matmul(v.narrow(1, h * d, d)));
      }
      const auto right = layer(*attention, "output", ablate::cat(heads, 1));
      squares += (run(*attention, {x})[0] - right).square().mean().item<double>();
    }
    errors.push_back(std::sqrt(squares / 6));
  }
  for (std::size_t i = 1; i < errors.size(); ++i) {
    CHECK(errors[i] < errors[i - 1] / 2);
    CHECK(errors[i] > errors[i - 1] / 8);
  }
}
