// Performer against its plain equations, and against softmax attention with more and more features. Also tests that
// later keys do not change earlier reads: the stabiliser of public implementations leaks later keys.
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2, kFeatures = 24;

std::shared_ptr<ablate::Attention> performer(const std::string& kernel, bool causal = false, bool carries = false,
                                             std::int64_t features = kFeatures, std::uint64_t seed = 1) {
  return make(section("performer", {{"heads", kHeads}, {"features", features}, {"kernel", kernel}}), seed,
              {.causal = causal, .carries = carries});
}

/// Returns phi of x [n, d] with vectors w [m, d], without a stabiliser.
Tensor phi(const std::string& kernel, const Tensor& x, const Tensor& w) {
  const auto scaled = x / std::pow(static_cast<double>(x.size(1)), 0.25);
  const auto phase = scaled.matmul(w.t()), half = scaled.square().sum(1, true) / 2;
  if (kernel == "positive") return (phase - half).exp();
  if (kernel == "hyperbolic") return ablate::cat({(phase - half).exp(), (-phase - half).exp()}, 1);
  if (kernel == "trigonometric") return ablate::cat({phase.cos() * half.exp(), phase.sin() * half.exp()}, 1);
  return phase.clamp_min(0) + 1e-3;
}

/// Computes one item, query by query.
Tensor expected(const ablate::Attention& attention, const std::string& kernel, const Tensor& x, bool causal) {
  const auto q = layer(attention, "query", x), k = layer(attention, "key", x), v = layer(attention, "value", x);
  const auto w = buffer(attention, "features.vectors");
  const auto d = q.size(1) / kHeads;
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto of = [&](const Tensor& all) { return all.narrow(1, h * d, d); };
    const auto queries = phi(kernel, of(q), w[h]), keys = phi(kernel, of(k), w[h]);
    std::vector<Tensor> rows;
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      const auto seen = causal ? i + 1 : x.size(0);
      const auto weights = keys.narrow(0, 0, seen).matmul(queries[i]);
      rows.push_back(weights.matmul(of(v).narrow(0, 0, seen)) / weights.sum());
    }
    heads.push_back(ablate::stack(rows));
  }
  return layer(attention, "output", ablate::cat(heads, 1));
}

}  // namespace

TEST_CASE("performer equals its equations in every kernel, causal and not, padded and not, with gradients") {
  for (const std::string kernel : {"positive", "hyperbolic", "trigonometric", "relu"})
    for (const bool causal : {false, true}) {
      if (causal && kernel == "trigonometric") continue;
      const auto attention = performer(kernel, causal);
      const std::vector<std::int64_t> lengths = {70, 13, 1};
      const auto x = (random_tokens(3, 70, 2) / 2).requires_grad_(), weights = random_tokens(3, 70, 3);
      const auto output = run(*attention, {x, {}, mask_of(70, lengths)});
      auto loss = ablate::zeros({}, ablate::kDouble), right = ablate::zeros({}, ablate::kDouble);
      for (std::int64_t i = 0; i < 3; ++i) {
        INFO(kernel << ", causal " << causal << ", item " << i);
        const auto n = lengths[i];
        const auto own = x[i].narrow(0, 0, n);
        const auto plain = expected(*attention, kernel, own, causal);
        CHECK(distance(output[i].narrow(0, 0, n), plain) < 1e-10);
        loss = loss + (output[i].narrow(0, 0, n) * weights[i].narrow(0, 0, n)).sum();
        right = right + (plain * weights[i].narrow(0, 0, n)).sum();
      }
      CHECK(distance(gradients(*attention, loss, {x}), gradients(*attention, right, {x})) < 1e-8);
    }
}

TEST_CASE("performer: sums of trigonometric weights are at least a thousandth of their bound") {
  const auto attention = performer("trigonometric", false, false, 4);
  const auto x = random_tokens(1, 40, 2) * 4;
  const auto q = layer(*attention, "query", x[0]), k = layer(*attention, "key", x[0]), v = layer(*attention, "value", x[0]);
  const auto w = buffer(*attention, "features.vectors");
  const auto d = kChannels / kHeads;
  std::int64_t bent = 0;
  std::vector<Tensor> heads;
  for (std::int64_t h = 0; h < kHeads; ++h) {
    const auto of = [&](const Tensor& all) { return all.narrow(1, h * d, d); };
    const auto queries = phi("trigonometric", of(q), w[h]), keys = phi("trigonometric", of(k), w[h]);
    const auto weights = queries.matmul(keys.t()), sum = weights.sum(1, true);
    const auto bound = queries.norm(2, 1, true) * keys.sum(0).norm();  // by Cauchy and Schwarz
    bent += (sum < bound / 1000).sum().item<std::int64_t>();
    heads.push_back(weights.matmul(of(v)) / sum.maximum(bound / 1000));
  }
  CHECK(bent > 10);
  CHECK(bent < 70);
  const auto right = layer(*attention, "output", ablate::cat(heads, 1));
  const auto size = right.abs().max().item<double>();
  CHECK(distance(run(*attention, {x})[0] / size, right / size) < 1e-12);
}

TEST_CASE("performer approaches softmax attention: its error falls about with the square root of the number of features") {
  const auto softmax = make(section("softmax", {{"heads", kHeads}}));
  const auto x = random_tokens(1, 32, 2);
  const auto exact = run(*softmax, {x});
  for (const std::string kernel : {"positive", "hyperbolic"})
    for (const bool causal : {false, true}) {
      INFO(kernel << ", causal " << causal);
      const auto right = causal ? run(*make(section("softmax", {{"heads", kHeads}}), 1, {.causal = true}), {x}) : exact;
      std::vector<double> errors;
      for (const std::int64_t features : {16, 256, 4096}) {
        double squares = 0;
        for (std::uint64_t seed = 1; seed <= 8; ++seed) {
          const auto attention = performer(kernel, causal, false, features, seed);
          copy_parameters(*softmax, *attention);
          squares += (run(*attention, {x}) - right).square().mean().item<double>();
        }
        errors.push_back(std::sqrt(squares / 8));
      }
      // With 16 times the features, an error of about 1 / sqrt(m) falls to a quarter. The test allows an eighth to a half.
      for (std::size_t i = 1; i < errors.size(); ++i) {
        CHECK(errors[i] < errors[i - 1] / 2);
        CHECK(errors[i] > errors[i - 1] / 8);
      }
    }
}

TEST_CASE("a later key of any size does not change the reads of earlier causal queries") {
  const auto attention = performer("positive", true);
  for (const std::int64_t at : {5, 63, 64, 69}) {
    const auto x = random_tokens(1, 70, 2);
    auto grown = x.clone();
    grown[0][at].mul_(300);
    INFO("position " << at);
    CHECK(distance(run(*attention, {x}).narrow(1, 0, at), run(*attention, {grown}).narrow(1, 0, at)) < 1e-12);
  }
  // Public code divides all keys by the largest exponential of all positions, also of later positions, and adds a constant.
  const auto first = [&](const Tensor& tokens) {
    const auto of = [&](const char* name) { return layer(*attention, name, tokens[0]).narrow(1, 0, kChannels / kHeads); };
    const auto w = buffer(*attention, "features.vectors")[0];
    const auto keys = phi("positive", of("key"), w);
    const auto weights = (keys / keys.max() + 1e-4).narrow(0, 0, 2).matmul(phi("positive", of("query"), w)[1]);
    return weights.matmul(of("value").narrow(0, 0, 2)) / weights.sum();
  };
  const auto x = random_tokens(1, 8, 2);
  auto changed = x.clone();
  changed[0].narrow(0, 2, 6).mul_(-1);
  CHECK(distance(first(x), first(changed)) > 1e-6);
}

TEST_CASE("performer's state: segments equal the whole, and a state of old features is forgotten after a redraw") {
  const auto attention = performer("positive", true, true);
  const auto x = random_tokens(2, 90, 2) / 2;
  const auto whole = run(*attention, {x});
  auto state = attention->initial_state(2);
  std::int64_t begin = 0;
  for (const std::int64_t end : {1, 30, 90}) {
    const auto segment = pass(*attention, {.queries = x.narrow(1, begin, end - begin), .state = state});
    CHECK(distance(segment.output, whole.narrow(1, begin, end - begin)) < 1e-11);
    state = segment.state;
    begin = end;
  }
  attention->on_step(1000, ablate::make_generator(3));
  const auto next = x.narrow(1, 0, 5);
  const auto after = run(*attention, {.queries = next, .state = state});
  CHECK(distance(after, run(*attention, {.queries = next, .state = attention->initial_state(2)})) < 1e-12);
  attention->on_step(1001, ablate::make_generator(3));
  CHECK(distance(after, run(*attention, {.queries = next, .state = state})) < 1e-12);
}

TEST_CASE("performer's error compares its outputs with exact softmax attention on the same queries, keys and values") {
  const auto asked = [](const nlohmann::json& more, bool causal = false, bool carries = false) {
    nlohmann::json values = {{"heads", kHeads}, {"features", kFeatures}, {"error_examples", 2}};
    values.update(more);
    return make(section("performer", values), 1, {.causal = causal, .carries = carries});
  };
  const auto x = random_tokens(3, 9, 2);
  const std::vector<std::int64_t> lengths = {9, 4, 7};
  for (const std::string kernel : {"positive", "hyperbolic", "trigonometric"})
    for (const bool causal : {false, true}) {
      if (causal && kernel == "trigonometric") continue;
      INFO(kernel << ", causal " << causal);
      const auto attention = asked({{"kernel", kernel}}, causal);
      const auto w = buffer(*attention, "features.vectors");
      double off = 0, whole = 0, count = 0;
      for (std::int64_t item = 0; item < 2; ++item) {  // the third item is not measured
        const auto own = x[item].narrow(0, 0, lengths[static_cast<std::size_t>(item)]);
        const auto q = layer(*attention, "query", own), k = layer(*attention, "key", own), v = layer(*attention, "value", own);
        const auto d = q.size(1) / kHeads;
        for (std::int64_t h = 0; h < kHeads; ++h)
          for (std::int64_t i = 0; i < own.size(0); ++i) {
            const auto seen = causal ? i + 1 : own.size(0);
            const auto of = [&](const Tensor& all) { return all.narrow(1, h * d, d); };
            const auto keys = of(k).narrow(0, 0, seen), values = of(v).narrow(0, 0, seen);
            const auto near = phi(kernel, keys, w[h]).matmul(phi(kernel, of(q), w[h])[i]);
            const auto exact = similarity("softmax", of(q)[i], keys);
            const auto right = exact.matmul(values) / exact.sum();
            off += (near.matmul(values) / near.sum() - right).square().sum().item<double>();
            whole += right.square().sum().item<double>();
            count += static_cast<double>(d);
          }
      }
      const auto metrics = pass(*attention, {.queries = x, .mask = mask_of(9, lengths), .measure = true}).metrics;
      REQUIRE(metrics.size() == 2);
      CHECK(metrics[0].name == "squared_error");
      CHECK(metrics[0].value == Approx(off / count).epsilon(1e-9));
      CHECK(metrics[1].name == "relative_squared_error");
      CHECK(metrics[1].value == Approx(off / whole).epsilon(1e-9));
      CHECK(metrics[1].value > 1e-4);
    }
  CHECK(pass(*asked({{"error_examples", 0}}), {.queries = x, .measure = true}).metrics.empty());
  CHECK_THROWS_WITH(asked({{"kernel", "relu"}}),
                    "error_examples = 2 compares with softmax attention, which kernel = relu does not approximate");
  // Earlier segments remain only as sums, so a segment is compared by itself.
  const auto carrying = asked(nlohmann::json::object(), true, true);
  const auto state = pass(*carrying, {.queries = x, .state = carrying->initial_state(3)}).state;
  const auto of = [&](const ablate::AttentionState& before) {
    return pass(*carrying, {.queries = x, .state = before, .measure = true}).metrics.at(0).value;
  };
  CHECK(of(state) == of(carrying->initial_state(3)));
}
