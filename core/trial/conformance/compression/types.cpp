// Promised floating types: the results of each must be near float64 results from the same numbers.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

constexpr Allowed kSingle{1e-3, "float32 against float64, as a share of the largest result"};
constexpr Allowed kNarrow{4, "multiple of the effect of rounding inputs and result"},
    kNarrowGradient{6, "multiple of the effect of rounding inputs and result: a gradient is rounded at each step backwards"},
    kWorstGradient{12, "multiple of the effect of rounding; a fit's matrix has entries of both signs, so its roundings add up"};

constexpr Allowed kFusedSums{1e-4, "float32, a fused form's sums in another order"};

/// Returns an instance in float64 with the numbers of another instance.
CompressionInstance widened(const CompressionSubject& subject, const CompressionSetting& setting, const Module& narrow) {
  auto wide_setting = setting;
  wide_setting.type = kDouble;
  const auto wide = subject.make(wide_setting);
  copy_registered(narrow, *wide);
  return wide;
}

/// Returns inputs where each number is a little larger or smaller, by the type's spacing, to measure the effect of rounding.
CompressionInputs rounded_otherwise(const CompressionInputs& in, double spacing, std::uint64_t seed) {
  const auto moved = [&](const Tensor& x, std::uint64_t by) {
    return x * (normal(x.sizes(), seed + by).sign() * spacing + 1.0);
  };
  return {moved(in.queries, 0), moved(in.keys, 1), moved(in.values, 2), in.mask};
}

struct Off {
  double worst = 0, most = 0;  ///< the largest error, and the error that nine of ten numbers stay below
};

Off off_of(const Tensor& found, const Tensor& expected) {
  const auto apart = (found.to(kDouble) - expected.to(kDouble)).abs().flatten();
  return {apart.max().item().toDouble(), std::get<0>(apart.kthvalue(apart.numel() * 9 / 10 + 1)).item().toDouble()};
}

}  // namespace

void scale(const CompressionSubject& subject, Finding& finding) {
  for (const auto rate : subject.rates())
    for (const bool training : {false, true}) {
      const CompressionSetting setting{{rate}, kFloat, training};
      auto in = inputs_of(subject.length(12), subject.lengths({12, 5})).to(kFloat);
      for (auto* x : {&in.queries, &in.keys, &in.values}) *x *= 1e4;
      const auto found = pass(*subject.make(setting), in);
      finding.finite(found.results(), setting.text() + ", inputs of 1e4");
    }
}

void type(const CompressionSubject& subject, Finding& finding) {
  const auto counts = subject.full() ? std::vector<std::int64_t>{12, 150} : std::vector<std::int64_t>{12};
  for (const auto n : subject.lengths(counts))
    for (const auto& slots : {subject.usual(), subject.uneven()})
      for (const bool training : {false, true}) {
        const CompressionSetting setting{slots, kFloat, training, n};
        const auto narrow = subject.make(setting);
        const auto wide = widened(subject, setting, *narrow);
        const auto in = inputs_of(n, subject.lengths({n, (n + 1) / 2})).to(kFloat);
        const auto found = pass(*narrow, in), expected = pass(*wide, in.to(kDouble));
        if (draws(found, finding)) continue;
        const auto place = fmt::format("{}, {} tokens", setting.text(), n);
        for (const auto& output : found.outputs)
          if (output.value.scalar_type() != kFloat) finding.off_by(kWrong, place + ": float32 gives another type");
        finding.near(found.results(), expected.results(), place, kSingle);
      }
}

void forms(const CompressionSubject& subject, Finding& finding) {
  const auto lengths = subject.lengths({330, 300, 257, 256, 129, 128, 65, 64, 3});
  const auto look = [&](const CompressionSetting& setting) {
    const auto narrow = subject.make(setting), wide = widened(subject, setting, *narrow);
    const auto in = inputs_of(lengths[0], lengths, 7, 9, setting.shape).to(kFloat), exact = in.to(kDouble);
    const auto found = pass(narrow, in), expected = pass(wide, exact, {.fused = false});
    const auto place = fmt::format("{}, {} items of up to {} tokens", setting.text(), lengths.size(), lengths[0]);
    const auto same = [&](const CompressionPass& fused, const CompressionPass& plain, const Allowed& allowed) {
      finding.near(fused.results(), plain.results(), place + ", fused against not", allowed);
    };
    same(found, pass(narrow, in, {.fused = false}), kFusedSums);
    same(pass(wide, exact), expected, kRounding);
    if (draws(found, finding)) return;
    for (std::size_t item = 0; item < lengths.size(); ++item) {
      const auto i = static_cast<std::int64_t>(item);
      const auto own = [&](const std::vector<Named>& all) { return item_of(all, i, lengths[item]); };
      const auto here = fmt::format("{}, item {}", place, i);
      compare_items(finding, own(found.outputs), own(expected.outputs), here, kFloat);
      compare_items(finding, own(of_inputs(found.gradients)), own(of_inputs(expected.gradients)), here, kFloat);
    }
    compare_items(finding, found.gradients, expected.gradients, place, kFloat);
  };
  std::vector<Slots> all = {subject.usual()};
  if (subject.takes(kSixteenth)) all.push_back({kSixteenth});
  if (subject.promises().fixed_slots) all.push_back({.fixed = 32});
  for (const auto& slots : all)
    for (const bool training : {false, true}) look({slots, kFloat, training, lengths[0], kFourHeads});
  look({subject.usual(), kFloat, false, lengths[0], kEightHeads});
}

void half(const CompressionSubject& subject, Finding& finding) {
  std::vector<Slots> all = {subject.usual(), {{1, 1024}}, {{1, 2503}}};
  if (subject.promises().fixed_slots) all.push_back({.fixed = 2});
  for (const auto type : {at::kHalf, at::kBFloat16})
    for (const auto& slots : all)
      for (const bool training : {false, true}) {
        // Sums over 2503 tokens, or fewer if many slots would be expensive.
        const auto n = subject.length(slots == subject.usual() ? 1003 : 2503);
        const CompressionSetting setting{slots, type, training, n};
        std::optional<CompressionInstance> made;
        try {
          made = subject.make(setting);
        } catch (const std::invalid_argument&) {  // a rate that the factory refuses
          continue;
        }
        const auto& narrow = *made;
        auto in = inputs_of(n, subject.lengths({n, n - 300}));
        // Moves numbers away from 0, so that sums grow with the length and means do not.
        for (auto* x : {&in.keys, &in.values}) *x += 1;
        in = in.to(type);
        const auto found = pass(*narrow, in);
        if (draws(found, finding)) continue;
        const auto wide = widened(subject, setting, *narrow);
        const auto same = in.to(kDouble);
        const auto expected = pass(*wide, same);
        const double spacing = type == at::kHalf ? std::ldexp(1.0, -10) : std::ldexp(1.0, -7);
        std::vector<CompressionPass> others;
        for (const std::uint64_t seed : {51, 61, 71}) others.push_back(pass(*wide, rounded_otherwise(same, spacing, seed)));
        const auto look = [&](std::vector<Named> CompressionPass::*results, std::size_t i, double least, const Allowed& allowed,
                              const Allowed& worst_allowed) {
          const auto& [what, right] = (expected.*results)[i];
          const auto& own = (found.*results)[i].value;
          const auto place = fmt::format("{}, {} tokens, {}", setting.text(), n, what);
          finding.finite(own, place);
          Off rounding;
          for (const auto& other : others) {
            const auto [worst, most] = off_of((other.*results)[i].value, right);
            rounding = {std::max(rounding.worst, worst), std::max(rounding.most, most)};
          }
          const auto sizes = right.abs();
          const auto off = off_of(own, right);
          const double of_worst = rounding.worst + spacing * std::max(sizes.max().item().toDouble(), least);
          const double of_most = rounding.most + spacing * std::max(sizes.mean().item().toDouble(), least);
          finding.off_by(off.worst / std::max(1e-12, of_worst), place + ", the worst number", worst_allowed);
          finding.off_by(off.most / std::max(1e-12, of_most), place + ", nine of ten numbers", allowed);
        };
        for (std::size_t i = 0; i < found.outputs.size(); ++i) look(&CompressionPass::outputs, i, 0, kNarrow, kNarrow);
        // With few slots, gradients in keys and queries are small differences of large terms. The terms are as large as the
        // gradients in values: of one token for keys, of all tokens together for queries.
        const auto of_values = expected.gradients[2].value.abs();
        look(&CompressionPass::gradients, 0, of_values.sum(2).max().item().toDouble(), kNarrowGradient, kWorstGradient);
        look(&CompressionPass::gradients, 1, of_values.max().item().toDouble(), kNarrowGradient, kWorstGradient);
        look(&CompressionPass::gradients, 2, 0, kNarrowGradient, kWorstGradient);
      }
}

}  // namespace ablate::conformance
