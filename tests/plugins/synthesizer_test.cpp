// Synthesizer: each form equals its equation, and does not depend on inputs that the form ignores.
#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 2, kLength = 13, kHead = kChannels / kHeads;

std::shared_ptr<ablate::Attention> synthesizer(const std::string& form, bool causal = false) {
  return make(section("synthesizer", {{"heads", kHeads}, {"synthesis", form}, {"rank", 3}}), 1,
              {.max_length = kLength, .train_length = kLength, .causal = causal});
}

/// Returns the score of one query and key.
Tensor score(const ablate::Attention& attention, const std::string& form, std::int64_t head, const Tensor& x, std::int64_t i,
             std::int64_t j) {
  const auto at = [&](const char* name) { return parameter(attention, name)[head]; };
  if (form == "random") return at("scores")[i][j];
  if (form == "factorized-random") return at("rows")[i].dot(at("columns")[j]);
  if (form == "mixture") {
    const auto of = [&](const char* name, std::int64_t row) {
      return layer(attention, name, x[row]).narrow(0, head * kHead, kHead);
    };
    const auto share = at("share").sigmoid();
    return share * of("query", i).dot(of("key", j)) / std::sqrt(static_cast<double>(kHead)) + (1 - share) * at("scores")[i][j];
  }
  const auto h = layer(attention, "hidden", x[i]).narrow(0, head * kHead, kHead).clamp_min(0);
  const auto of_row = [&](std::int64_t row) { return at("scores")[row].dot(h) + at("score_bias")[row]; };
  if (form == "dense") return of_row(j);
  return of_row(j / 4) * of_row(4 + j % 4);  // 13 positions: 4 outer, 4 inner factors
}

Tensor expected(const ablate::Attention& attention, const std::string& form, const Tensor& x, bool causal) {
  const auto v = layer(attention, "value", x);
  const auto n = x.size(0);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<Tensor> parts;
    for (std::int64_t head = 0; head < kHeads; ++head) {
      const auto seen = causal ? i + 1 : n;
      std::vector<Tensor> scores;
      for (std::int64_t j = 0; j < seen; ++j) scores.push_back(score(attention, form, head, x, i, j));
      parts.push_back(ablate::stack(scores).softmax(0).matmul(v.narrow(0, 0, seen).narrow(1, head * kHead, kHead)));
    }
    rows.push_back(ablate::cat(parts));
  }
  return layer(attention, "output", ablate::stack(rows));
}

constexpr const char* kForms[] = {"dense", "random", "factorized-dense", "factorized-random", "mixture"};

}  // namespace

TEST_CASE("every synthesis equals its equation, causal and not, padded and not, with gradients") {
  for (const std::string form : kForms)
    for (const bool causal : {false, true}) {
      const auto attention = synthesizer(form, causal);
      if (form == "mixture") {
        ablate::NoGradGuard none;
        parameter(*attention, "share").copy_(normal({kHeads}, 5));
      }
      INFO(form << ", causal " << causal);
      const auto oracle = [&](const Tensor& own) { return expected(*attention, form, own, causal); };
      const auto off = off_padded(*attention, random_tokens(4, kLength, 2), {kLength, 6, 1, 0}, oracle);
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
    }
}

TEST_CASE("a mixture begins with equal shares of dot products and of positions") {
  CHECK(distance(parameter(*synthesizer("mixture"), "share").sigmoid(), ablate::full({kHeads}, 0.5, ablate::kDouble)) == 0);
}

TEST_CASE("weights depend only on the form's inputs: on the query's token, on both tokens, or on no token") {
  const auto x = random_tokens(1, kLength, 2);
  auto changed = x.clone();
  changed[0][4] = normal({kChannels}, 9);
  for (const std::string form : kForms) {
    const auto attention = synthesizer(form);
    {
      // All values are 0 except the value of token 7, so the output of a query shows its weight on token 7.
      ablate::NoGradGuard none;
      parameter(*attention, "value.weight").zero_();
      parameter(*attention, "value.bias").zero_();
      parameter(*attention, "value.weight")[0][0] = 1;
    }
    auto a = x.clone(), b = changed.clone();
    for (auto* tokens : {&a, &b}) {
      tokens->select(2, 0).zero_();
      (*tokens)[0][7][0] = 1;
    }
    const auto moved = (run(*attention, {a}) - run(*attention, {b})).abs().amax(2)[0];
    for (std::int64_t i = 0; i < kLength; ++i) {
      INFO(form << ", query " << i);
      const bool may = form == "mixture" || (i == 4 && form.find("dense") != std::string::npos);
      if (may)
        CHECK(moved[i].item<double>() > 0);
      else
        CHECK(moved[i].item<double>() == 0);
    }
  }
}
