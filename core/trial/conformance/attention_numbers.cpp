#include "core/trial/conformance/attention_numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/trial/conformance/registered.h"

namespace ablate::conformance {
namespace {

constexpr Allowed kMedians{1e-4, "float32 over some hundred terms; medians, since a decision may fall otherwise"};

/// Three items without a mask, and where padding is promised with one.
std::vector<Pass> plain_and_padded(const AttentionSubject& subject, std::int64_t n, std::uint64_t seed) {
  std::vector<Pass> all = {{.queries = random_tokens(3, n, seed)}};
  if (subject.promises().key_padding)
    all.push_back({.queries = random_tokens(3, n, seed), .mask = padding_mask({n, subject.length(8), subject.length(1)}, n)});
  return all;
}

Pass cast(Pass pass, at::ScalarType type) {
  pass.queries = pass.queries.to(type);
  return pass;
}

}  // namespace

void types(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands())
    for (const bool training : {false, true}) {
      if (subject.draws(Setting{stand, kFloat, training}, finding)) continue;
      for (const auto& pass : plain_and_padded(subject, subject.length(13), 2)) {
        const auto exact = subject.make(1, Setting{stand, kDouble, training});
        const auto narrow = subject.make(1, Setting{stand, kFloat, training});
        const auto where = Setting{stand, kFloat, training}.text() + (pass.mask.defined() ? ", padded" : "");
        const auto output = run(*narrow, cast(pass, kFloat));
        finding.finite(output, where);
        finding.near_median(real(output, pass.mask), real(run(*exact, pass), pass.mask), where, kMedians);
        const auto expected = gradients(*exact, pass, pass.mask), found = gradients(*narrow, cast(pass, kFloat), pass.mask);
        for (std::size_t i = 0; i < expected.names.size(); ++i)
          finding.near_median(found.tensors[i], expected.tensors[i], where + ", gradient of " + expected.names[i], kMedians);
      }
    }
}

void lengths(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand);
    for (const std::int64_t wanted : {1, 2, 7, 32, 65, 80}) {
      const auto n = subject.length(wanted);
      finding.finite(run(*instance, {random_tokens(2, n, 2)}), fmt::format("{}, {} tokens", stand.text(), n));
    }
  }
}

void long_sequence(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(1003);
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand, kFloat, n);
    const Pass pass{random_tokens(1, n, 2, kFloat)};
    finding.finite(run(*instance, pass), stand.text());
    finding.finite(gradients(*instance, pass).tensors, stand.text() + ", gradients");
  }
}

void batch(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (const auto& setting : subject.settings()) {
    const auto instance = subject.make(1, setting);
    const auto where = [&](std::int64_t i, const char* mates) {
      return fmt::format("{}: item {} among {}", setting.text(), i, mates);
    };
    for (const auto& pass : plain_and_padded(subject, n, 2)) {
      auto tokens = cast(pass, setting.type);
      const auto together = real(run(*instance, tokens), tokens.mask);
      for (std::int64_t i = 0; i < 3; ++i) {
        // The same place in the batch and other mates, much larger ones: the same draws meet the item.
        auto others = tokens;
        others.queries = random_tokens(3, n, 40, setting.type) * 30;
        others.queries.narrow(0, i, 1).copy_(tokens.queries.narrow(0, i, 1));
        finding.near(real(run(*instance, others), tokens.mask)[i], together[i], where(i, "other mates"),
                     same_shape(setting.type));
      }
      if (setting.type != kDouble || subject.draws(setting, finding)) continue;
      tokens.queries = scaled(tokens.queries, {1, 100, 0.01});
      const auto scaled_together = real(run(*instance, tokens), tokens.mask);
      for (std::int64_t i = 0; i < 3; ++i) {
        Pass alone{.queries = item(tokens.queries, i, n)};
        if (tokens.mask.defined()) alone.mask = tokens.mask.narrow(0, i, 1);
        finding.near(item(scaled_together, i, n), real(run(*instance, alone), alone.mask), where(i, "mates, against alone"));
      }
    }
  }
}

void scale(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands())
    for (const bool training : {false, true}) {
      const Setting setting{stand, kFloat, training};
      const auto instance = subject.make(1, setting);
      const Pass pass{random_tokens(2, subject.length(32), 2, kFloat) * 1e4};
      finding.finite(run(*instance, pass), setting.text());
      const auto found = gradients(*instance, pass);
      for (std::size_t i = 0; i < found.names.size(); ++i)
        finding.finite(found.tensors[i], setting.text() + ", gradient of " + found.names[i]);
    }
}

namespace {

/// A narrow run of one length against float64 with the same rounded weights and inputs. What may be off is what roundings
/// 8 and 16 times as large would make of float64: so a decision that rounding may turn is allowed to turn. Where that is not
/// enough, roundings of some other directions are tried: another decision may be the one that turned.
void narrow_run(const AttentionSubject& subject, const Stand& stand, at::ScalarType type, std::int64_t n, Finding& finding) {
  constexpr double kFactor = 8;
  constexpr std::size_t kOthers = 8;
  const auto where = fmt::format("{}, {} tokens", Setting{stand, type, false}.text(), n);
  const auto tokens = random_tokens(1, n, 2), rounded = tokens.to(type).to(kDouble);
  const auto instance = subject.make(1, stand, type, n);
  const auto found = run(*instance, {tokens.to(type)}).to(kDouble);
  finding.finite(found, where);
  const auto wide = subject.make(1, stand, kDouble, n);
  const auto weights = copies(contents(*wide));
  move_to(*instance, c10::kCPU, kDouble);
  copy_registered(*instance, *wide);
  const auto all = contents(*wide), rounded_weights = copies(all);
  const auto expected = run(*wide, {rounded});
  std::vector<Tensor> moved;
  const auto move = [&](double factor, std::uint64_t seed) {
    const auto by = [&](const Tensor& exact, const Tensor& narrow) {
      const auto off = (exact - narrow) * factor;
      return narrow + (seed == 0 ? off : off * normal_like(off, seed));
    };
    {
      const NoGradGuard none;
      for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].is_floating_point()) all[i].copy_(by(weights[i], rounded_weights[i]));
    }
    moved.push_back((run(*wide, {by(tokens, rounded)}) - expected).abs());
  };
  for (const double factor : {kFactor, -kFactor, 2 * kFactor, -2 * kFactor}) move(factor, 0);
  const auto quantile = [](const Tensor& off, double share) {
    const auto sorted = std::get<0>(off.flatten().sort());
    return sorted[static_cast<std::int64_t>(share * static_cast<double>(sorted.numel() - 1))].item().toDouble();
  };
  const auto off = (found - expected).abs();
  const double roundings = kFactor * expected.abs().median().item().toDouble() * (type == at::kHalf ? 1.0 / 2048 : 1.0 / 256);
  const auto most_of = [&](double share) {
    double most = roundings;
    for (const auto& one : moved) most = std::max(most, quantile(one, share));
    return most;
  };
  for (const double share : {0.9, 1.0}) {
    for (std::uint64_t seed = 1; seed <= kOthers && moved.size() < 4 + kOthers && quantile(off, share) > most_of(share); ++seed)
      move(kFactor, seed);
    const double most = most_of(share);
    finding.off_by(quantile(off, share) / most,
                   fmt::format("{}: {} {:.2g}, where {} to {} roundings of the inputs make {:.2g}", where,
                               share < 1 ? "a tenth of the outputs are off by" : "an output is off by", quantile(off, share),
                               kFactor, 2 * kFactor, most));
  }
}

}  // namespace

void half(const AttentionSubject& subject, Finding& finding) {
  for (const auto& stand : subject.stands())
    for (const auto type : {at::kHalf, at::kBFloat16}) {
      std::vector<std::int64_t> lengths = {subject.length(33)};
      if (subject.full()) lengths.push_back(subject.length(1100));
      // Where a sum of ones stands still in float16; what is quadratic keeps no sums of so many.
      if (subject.full() && type == at::kHalf && subject.promises().memory_exponent < 1.5)
        lengths.push_back(subject.length(4100));
      for (const auto n : lengths) narrow_run(subject, stand, type, n, finding);
      const Setting setting{stand, type, true};
      const auto instance = subject.make(1, setting);
      const Pass pass{random_tokens(2, subject.length(33), 2, type)};
      finding.finite(gradients(*instance, pass).tensors, setting.text() + ", gradients");
      // Of inputs of 1e4 an average is no larger; a sum of products is, and float16 ends at 65504.
      if (type == at::kBFloat16 || subject.promises().averages)
        finding.finite(run(*instance, {pass.queries * 1e4}), setting.text() + ", inputs of 1e4");
    }
}

void constants(const AttentionSubject& subject, Finding& finding) {
  // At home alone: a memory that is not full is no token like the others, and the first tokens of a causal read over slots
  // have nothing to read.
  const auto token = random_tokens(2, 1, 2);
  const auto alike = [&](std::int64_t n) { return token.expand({2, n, -1}).contiguous(); };
  for (const bool training : {false, true}) {
    const Setting setting{subject.home(), kDouble, training};
    if (subject.draws(setting, finding)) continue;
    const auto instance = subject.make(1, setting);
    const auto one = run(*instance, {alike(subject.length(1))}).narrow(1, 0, 1);
    for (const std::int64_t wanted : {7, 32, 80}) {
      const auto n = subject.length(wanted);
      const auto many = run(*instance, {alike(n)});
      finding.near(many, one.expand_as(many), fmt::format("{}, {} tokens alike", setting.text(), n));
      if (!subject.promises().cross_attention) continue;
      const auto queries = random_tokens(2, subject.length(5), 3);
      const auto cross = run(*instance, {queries, alike(n)});
      const auto first = run(*instance, {queries, alike(subject.length(1))});
      finding.near(cross, first, fmt::format("{}, {} queries over {} tokens alike", setting.text(), queries.size(1), n));
    }
  }
}

void positions(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  const auto tokens = random_tokens(3, n, 2);
  for (auto stand : subject.stands()) {
    stand.positions = Positions::kRotary;
    const auto instance = subject.make(1, stand);
    const auto at = [&](const std::vector<std::int64_t>& first) { return integers(first); };
    finding.near(run(*instance, {tokens}), run(*instance, {.queries = tokens, .position = at({0, 0, 0})}),
                 stand.text() + ", no position is 0");
    const std::vector<std::int64_t> first = {0, 5, 40};
    const auto together = run(*instance, {.queries = tokens, .position = at(first)});
    for (std::int64_t i = 0; i < 3; ++i) {
      const Pass alone{.queries = item(tokens, i, n), .position = at({first[static_cast<std::size_t>(i)]})};
      finding.near(item(together, i, n), run(*instance, alone), fmt::format("{}, item {} alone", stand.text(), i));
    }
  }
}

void measure(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (const auto& stand : subject.stands())
    for (auto pass : plain_and_padded(subject, n, 2)) {
      const auto instance = subject.make(1, stand);
      const auto plain = run(*instance, pass);
      pass.measure = true;
      const auto measured = forward(*instance, pass);
      for (const auto& metric : measured.metrics)
        if (metric.name.empty() ||
            metric.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string::npos ||
            !std::isfinite(metric.value))
          throw std::runtime_error(
              fmt::format("measures \"{}\" = {}, expected a snake_case name and a finite number", metric.name, metric.value));
      finding.near(measured.output, plain, stand.text() + ", while it measures");
    }
}

void equals(const AttentionSubject& subject, const OracleInfo& oracle, Finding& finding) {
  const auto& candidate = subject.candidate();
  const AttentionSubject own(candidate.beside(candidate.descriptor(), oracle.at));
  const AttentionSubject other(candidate.beside(candidate.find(Kind::kAttention, oracle.plugin), oracle.with));
  const auto n = own.length(other.length(37));
  int stands = 0;
  for (const auto& stand : own.promised_stands()) {
    const auto known = other.promised_stands();
    if (stand.carries || std::find(known.begin(), known.end(), stand) == known.end()) continue;
    ++stands;
    const auto ours = own.make(1, stand), theirs = other.make(2, stand);
    copy_common(*theirs, *ours);
    for (const auto& pass : plain_and_padded(own, n, 2)) {
      if (pass.mask.defined() && !other.promises().key_padding) continue;
      const auto where = stand.text() + (pass.mask.defined() ? ", padded" : "");
      finding.near(real(run(*ours, pass), pass.mask), real(run(*theirs, pass), pass.mask), where);
      const auto expected = gradients(*theirs, pass, pass.mask);
      compare(finding, gradients(*ours, pass, pass.mask), expected, where, {1e-8, "float64, a backward pass in another order"});
    }
  }
  if (stands == 0) throw std::runtime_error("the two have no stand in common");
}

}  // namespace ablate::conformance
