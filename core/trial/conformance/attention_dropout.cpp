// Dropout of attention weights: on the average what no dropout gives.
#include <ATen/Context.h>
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/attention_contract.h"

namespace ablate::conformance {
namespace {

constexpr double kDropped = 0.4;
constexpr std::uint64_t kFew = 100, kMany = 400;

/// Of outputs by many seeds.
struct Draws {
  Tensor mean, variance;  ///< variance: of the mean
};

Draws draws_of(const Instance& instance, Pass pass, std::uint64_t count) {
  pass.seed = 100;
  const auto first = real(run(instance, pass), pass.mask);  // taken off, so that squares lose no digits
  auto sum = zeros_like(first), squares = zeros_like(first);
  for (std::uint64_t draw = 1; draw < count; ++draw) {
    ++pass.seed;
    const auto off = real(run(instance, pass), pass.mask) - first;
    sum += off;
    squares += off * off;
  }
  const double all = static_cast<double>(count);
  const auto mean = sum / all;
  return {first + mean, (squares / all - mean * mean).clamp_min(0) / all};
}

/// Weights that are dropped change the output, and their mean over many draws is what they are without, itself a mean where
/// the method draws: the distance is measured in its own standard errors, over all numbers of the output.
void unbiased(const Instance& dropping, const Instance& plain, const Pass& pass, std::uint64_t count, const std::string& where,
              Finding& finding) {
  const NoGradGuard none;
  const auto found = draws_of(dropping, pass, count);
  auto other = pass;
  ++other.seed;
  const bool draws = !run(plain, other).equal(run(plain, pass));
  const auto expected = draws_of(plain, pass, draws ? count : 1);
  const auto total = [](const Tensor& x) { return x.sum().item().toDouble(); };
  if (found.variance.max().item().toDouble() < 1e-22) throw std::runtime_error(where + ": nothing is dropped in training");
  const auto error = total((found.mean - expected.mean).square()) / (total(found.variance) + total(expected.variance));
  constexpr Allowed allowed{3,
                            "squared distance of a mean of many draws, 1 expected, of some hundred numbers that go together"};
  finding.off_by(error, fmt::format("{}: the mean of {} draws is off", where, count), allowed);
}

}  // namespace

void weight_dropout(const AttentionSubject& subject, Finding& finding) {
  auto global = at::globalContext().defaultGenerator(c10::kCPU);
  const auto n = subject.length(13);
  for (auto stand : subject.stands()) {
    const auto plain = subject.make(1, {.stand = stand, .training = true});
    stand.dropout = kDropped;
    const auto dropping = subject.make(1, {.stand = stand, .training = true}), evaluated = subject.make(1, stand);
    Pass pass{random_tokens(3, n, 2)};
    if (subject.promises().key_padding) pass.mask = padding_mask({n, subject.length(5), n}, n);
    const auto where = stand.text();
    plain->eval();
    finding.near(real(run(*evaluated, pass), pass.mask), real(run(*plain, pass), pass.mask), where + ", in evaluation", kExact);
    plain->train();

    global.set_current_seed(3);
    const auto before = global.get_state();
    const auto first = gradients(*dropping, pass, pass.mask);
    const auto output = real(run(*dropping, pass), pass.mask);
    if (!global.get_state().equal(before)) throw std::runtime_error(where + ": torch's global generator has moved");
    global.set_current_seed(4);
    compare(finding, gradients(*dropping, pass, pass.mask), first, where + ", the same seed again", kExact);
    auto other = pass;
    other.seed = 18;
    if (real(run(*dropping, other), pass.mask).equal(output))
      throw std::runtime_error(where + ": another seed drops the same weights, or none are dropped");
    if (pass.mask.defined()) {
      auto poisoned = pass;
      poisoned.queries = pass.queries.masked_fill(pass.mask.logical_not().unsqueeze(-1), std::nan(""));
      finding.near(real(run(*dropping, poisoned), pass.mask), output, where + ", NaN under the mask");
    }
    for (const auto& entry : dropping->parameters()) {
      const auto name = entry.name.substr(entry.name.starts_with("attention.") ? 10 : 0);
      const auto loss = [&] { return loss_of(forward(*dropping, pass), pass.mask).item().toDouble(); };
      const NoGradGuard none;
      const auto difference = finite_difference(loss, entry.tensor, first.of(name), 31);
      difference.turns ? finding.leave(kTurns) : finding.off_by(difference.off, where + ", gradient of " + name, kDifferences);
    }
    unbiased(*dropping, *plain, pass, subject.full() ? kMany : kFew, where, finding);
  }
}

}  // namespace ablate::conformance
