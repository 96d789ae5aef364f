// Scores that an objective computes from logits, by arithmetic.
#include "core/trial/objectives/objective.h"

#include <ATen/ATen.h>

#include "tests/support/catch.h"

using namespace ablate;

namespace {

std::map<std::string, double> measured(const std::string& unit, const at::Tensor& logits, const at::Tensor& targets) {
  const auto objective = make_objective({.fields = {{"value", 257}},
                                         .length = 4,
                                         .classes = logits.size(1),
                                         .objective = Objective::kPositions,
                                         .causal = true,
                                         .unit = unit});
  const auto n = targets.size(0);
  const Batch batch{.size = n / 4,
                    .fields = {at::zeros({n / 4, 4}, at::kLong)},
                    .asked = at::arange(n, at::kLong),
                    .targets = targets,
                    .slices = {}};
  Scores scores;
  objective->score(Logits(logits).answers(targets, false), batch, {}, scores);
  std::map<std::string, double> all;
  for (const auto& [info, value] : objective->metrics(scores.at(""))) all[info.name] = value;
  return all;
}

}  // namespace

TEST_CASE("a uniform model of 256 values has 8 bits per dimension") {
  const auto found = measured("dimension", at::zeros({12, 256}), at::randint(0, 256, {12}, at::kLong));
  CHECK(found.at("bits_per_dimension") == Approx(8).epsilon(1e-7));
  CHECK(found.at("loss") == Approx(std::log(256.0)).epsilon(1e-7));
}

TEST_CASE("bits per unit are minus the mean logarithm of the targets' probabilities") {
  const auto logits = at::randn({8, 256});
  const auto targets = at::randint(0, 256, {8}, at::kLong);
  double bits = 0;
  for (std::int64_t i = 0; i < 8; ++i) {
    double sum = 0;
    for (std::int64_t c = 0; c < 256; ++c) sum += std::exp(logits[i][c].item<double>());
    bits -= std::log2(std::exp(logits[i][targets[i].item<std::int64_t>()].item<double>()) / sum) / 8;
  }
  CHECK(measured("dimension", logits, targets).at("bits_per_dimension") == Approx(bits).epsilon(1e-6));
  CHECK(measured("word", logits, targets).at("perplexity") == Approx(std::exp2(bits)).epsilon(1e-6));
}
