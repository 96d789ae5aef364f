// Checks the numbers that every attention computes, whatever it promises.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/trial/conformance/attention/contract.h"
#include "core/trial/conformance/attention/layers.h"
#include "core/trial/conformance/engine/lengths.h"
#include "core/trial/conformance/engine/registered.h"

namespace ablate::conformance {
namespace {

constexpr Allowed kMedians{1e-4, "float32 over some hundred terms; medians, because a decision may change"};

/// Returns a pass of three items without a mask, and one with a mask if padding is promised.
std::vector<Pass> plain_and_padded(const AttentionSubject& subject, std::int64_t n, std::uint64_t seed) {
  std::vector<Pass> all = {{.queries = random_tokens(3, n, seed)}};
  if (subject.promises().key_padding)
    all.push_back(
        {.queries = random_tokens(3, n, seed), .mask = padding_mask({n, subject.length(n * 8 / 13), subject.length(1)}, n)});
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
      if (training && !subject.full()) continue;
      const Setting narrow_setting{stand, kFloat, training};
      if (subject.draws(narrow_setting, finding)) continue;
      auto passes = plain_and_padded(subject, subject.length(13), 2);
      for (const std::int64_t n : {150, 300, 1100})
        if (subject.full() && (n < 1000 || !training))
          passes.push_back({random_tokens(n < 1000 ? 2 : 1, subject.length(n), 2)});
      for (const auto& pass : passes) {
        const auto n = pass.queries.size(1);
        const auto exact = subject.make(1, Setting{stand, kDouble, training}, n), narrow = subject.make(1, narrow_setting, n);
        const auto where = fmt::format("{}, {} tokens{}", narrow_setting.text(), n, pass.mask.defined() ? ", padded" : "");
        const auto output = run(*narrow, cast(pass, kFloat));
        finding.finite(output, where);
        // An average of many terms is small, so the least size that an error is compared with is small, too.
        finding.near_median(real(output, pass.mask), real(run(*exact, pass), pass.mask), where, kMedians, 1e-3);
        if (n > subject.length(300)) continue;
        const auto expected = gradients(*exact, pass, pass.mask), found = gradients(*narrow, cast(pass, kFloat), pass.mask);
        // The gradient of a parameter that changes nothing (the keys' bias under a softmax) is the rounding of large terms.
        double size = 0.25;
        for (const auto& [what, gradient] : expected)
          if (gradient.numel() > 0) size = std::max(size, gradient.abs().median().item().toDouble());
        for (std::size_t i = 0; i < expected.size(); ++i)
          finding.near_median(found[i].value, expected[i].value, where + ", " + expected[i].what, kMedians, size);
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
  const auto n = subject.length(kThousand);
  for (const auto& stand : subject.stands()) {
    const auto instance = subject.make(1, stand, kFloat, n);
    const Pass pass{random_tokens(1, n, 2, kFloat)};
    finding.finite(run(*instance, pass), stand.text());
    if (!subject.full()) continue;  // other checks cover gradients of shorter sequences
    finding.finite(tensors_of(gradients(*instance, pass)), stand.text() + ", gradients");
  }
}

void batch(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings())
    for (const auto n : subject.short_and_long()) {
      const auto instance = subject.make(1, setting, n);
      const auto where = [&](std::int64_t i, const char* mates) {
        return fmt::format("{}, {} tokens: item {} among {}", setting.text(), n, i, mates);
      };
      for (const auto& pass : plain_and_padded(subject, n, 2)) {
        auto tokens = cast(pass, setting.type);
        const auto together = real(run(*instance, tokens), tokens.mask);
        for (std::int64_t i = 0; i < 3; ++i) {
          // The batch mates become much larger. The item keeps its place in the batch, so that it gets the same draws.
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
          finding.near(item(scaled_together, i, n), real(run(*instance, alone), alone.mask),
                       where(i, "mates, against the item alone"));
        }
      }
    }
}

void scale(const AttentionSubject& subject, Finding& finding) {
  for (const auto& setting : subject.settings(subject.stands(), kFloat)) {
    const auto instance = subject.make(1, setting);
    const Pass pass{random_tokens(2, subject.length(32), 2, kFloat) * 1e4};
    finding.finite(run(*instance, pass), setting.text());
    finding.finite(gradients(*instance, pass), setting.text());
  }
}

namespace {

constexpr std::int64_t kItemsAlike = 2;

/// Returns the output that the layers make of a token, on the CPU.
Tensor read_of(const Tensor& tokens, const Layers& layers) {
  const auto through = [](const Tensor& x, const Layer& layer) {
    return linear(x, layer.weight.cpu(), layer.bias.defined() ? layer.bias.cpu() : Tensor());
  };
  return through(through(tokens, layers.values.front()), layers.outputs.front());
}

Tensor alike(std::int64_t items, std::int64_t n, at::ScalarType type) {
  return random_tokens(items, 1, 2, type).expand({items, n, -1}).contiguous();
}

/// True if all queries read equal values unchanged. False if a read depends on the query, as with a gate, a choice of heads, or
/// no weight at all under a rectified kernel. Also false if a read depends on other parameters: the plugin `set` has a layer
/// between its two reads. Checks only the second half of the tokens: the first tokens of a causal read may read nothing.
bool reads_values(const Instance& instance, const Layers& layers, std::int64_t n) {
  const auto& values = layers.values.front();
  const NoGradGuard none;
  const auto all = parameters_of(instance);
  const auto before = copies(all);
  const auto type = values.weight.scalar_type();
  const auto read_from = [&](const Tensor& tokens) { return run(instance, {tokens}).narrow(1, n / 2, n - n / 2); };
  const auto read = [&] { return read_from(first_set(random_tokens(kItemsAlike, n, 5, type), 1)); };
  const auto equal = alike(kItemsAlike, n, type), equal_before = read_from(equal);
  const auto is_near = [](const Tensor& a, const Tensor& b) { return (a - b).abs().max().item().toDouble() < 1e-6; };
  set_alike(values);
  const auto first = read();
  for (const auto& parameter : all)
    if (!values.owns(parameter) && !layers.outputs.front().owns(parameter)) parameter.add_(normal_like(parameter, 7), 0.05);
  const auto second = read();
  for (std::size_t i = 0; i < all.size(); ++i)
    if (values.owns(all[i])) all[i].copy_(before[i]);
  // Values may be made from another layer's output instead of the tokens.
  const auto equal_after = read_from(equal);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].copy_(before[i]);
  return is_near(first, first[0][0]) && is_near(second, first) && is_near(equal_after, equal_before);
}

/// Returns the first position whose output is right, else the last position. Early causal reads over slots may read nothing.
std::int64_t first_right(const Tensor& output, const Tensor& expected, double allowed) {
  const double size = std::max(1.0, expected.abs().max().item().toDouble());
  const auto right = ((output - expected).abs().amax({0, 2}) <= allowed * size).nonzero().flatten();
  return right.numel() == 0 ? output.size(1) - 1 : right[0].item().toLong();
}

void constants_at(const AttentionSubject& subject, const Setting& setting, const std::vector<std::int64_t>& lengths,
                  const Allowed& allowed, Finding& finding) {
  const NoGradGuard none;
  const auto longest = lengths.front();
  const auto items = setting.type == kDouble ? kItemsAlike : 1;
  const auto alone = subject.length(40);  // length at which the layers are found
  const auto instance = subject.make(1, setting, std::max({longest, alone, subject.length(many_lengths().front())}));
  const auto layers = layers_of(*instance, alone);
  const auto whole = run(*instance, {alike(items, longest, setting.type)});
  const bool known = layers.are_one() && reads_values(*instance, layers, std::min(longest, subject.length(80)));
  const auto token = random_tokens(items, 1, 2, setting.type);
  const auto expected = known ? read_of(token, layers) : whole.narrow(1, longest - 1, 1).clone();
  const auto start = setting.stand.causal ? first_right(whole, expected, allowed.error) : 0;
  const auto look = [&](const Tensor& output, const Tensor& mask, const std::string& where) {
    const auto n = output.size(1);
    auto seen = (arange(n) >= start).view({1, n, 1});
    if (mask.defined()) seen = seen.logical_and(mask.unsqueeze(-1));
    const auto hidden = seen.logical_not();
    const auto right = expected.size(0) == output.size(0) ? expected : expected.narrow(0, 0, 1);
    finding.near(output.masked_fill(hidden, 0), right.expand_as(output).masked_fill(hidden, 0),
                 fmt::format("{}, {}", setting.text(), where), allowed);
  };
  look(whole, {}, fmt::format("{} tokens alike", longest));
  for (const auto n : lengths)
    if (n < longest) look(run(*instance, {alike(items, n, setting.type)}), {}, fmt::format("{} tokens alike", n));
  if (!subject.promises().key_padding || setting.type != kDouble) return;
  std::vector<std::vector<std::int64_t>> batches = {lengths_for(subject, every_length(16))};
  if (subject.full() && setting.plain()) batches.push_back(lengths_for(subject, many_lengths()));
  for (const auto& padded : batches) {
    const auto n = padded.front();
    const auto tokens = token.narrow(0, 0, 1).expand({static_cast<std::int64_t>(padded.size()), n, -1}).contiguous();
    const auto mask = padding_mask(padded, n);
    look(run(*instance, {tokens, {}, mask}), mask, fmt::format("{} tokens alike, padded", n));
  }
}

/// Checks that an average over equal tokens is the value of one token, for every query, position and number of tokens.
void constants_everywhere(const AttentionSubject& subject, Finding& finding) {
  std::vector<std::int64_t> lengths = {80, 32};
  if (subject.full()) {
    lengths = {262, 80, 32};
    lengths.insert(lengths.end(), std::begin(kTurning), std::end(kTurning));
  }
  for (const auto& stand : subject.promised_stands(false)) {
    for (const auto& setting : subject.settings({stand}, kDouble))
      if (!subject.draws(setting, finding))
        constants_at(subject, setting, lengths_for(subject, setting.training ? std::vector<std::int64_t>{80, 64} : lengths),
                     kRounding, finding);
    if (!subject.full()) continue;
    for (const auto n : lengths_beyond(subject))
      constants_at(subject, {stand, kFloat}, {n}, {1e-3, "float32, sums of 2,000 terms"}, finding);
  }
}

/// Checks tokens that differ but have equal values, if the layers that make values are found. Every average is then that value,
/// so a query's output does not depend on the other tokens. The query may still choose a head or a gate.
void equal_values(const AttentionSubject& subject, const Setting& setting, Finding& finding) {
  const auto alone = subject.length(40);  // length at which the layers are found
  const auto instance = subject.make(1, setting, std::max(alone, subject.short_and_long().back()));
  const auto makers = layers_of(*instance, alone).makers;
  if (makers.empty()) return finding.say("equal values were not checked: no layers were found that make all values");
  for (const auto& layer : makers) set_alike(layer);
  const auto look = [&](const Tensor& found, const Tensor& expected, const std::string& where) {
    finding.near_median(found, expected, where + ", other keys with the same values", kRounding, 1);
  };
  // Tokens of an item are close to each other. Under a rectified kernel a query may have no weight on any of these tokens, and
  // then reads nothing. Such a query has, with few exceptions, no weight on similar tokens either. So medians are compared.
  const auto near_one = [&](std::int64_t n, std::uint64_t seed) {
    return first_set(random_tokens(3, 1, 4) + random_tokens(3, n, seed) * 0.05, 1);
  };
  for (const auto n : subject.short_and_long())
    for (auto pass : plain_and_padded(subject, n, 4)) {
      const bool is_padded = pass.mask.defined();
      const auto where = fmt::format("{}, {} tokens{}", setting.text(), n, is_padded ? ", padded" : "");
      const auto even = arange(n).remainder(2).eq(0), kept = is_padded ? pass.mask.logical_and(even) : even.expand({3, n});
      pass.queries = near_one(n, 5);
      auto other = pass;
      other.queries = pass.queries.where(even.unsqueeze(-1), near_one(n, 6));
      const auto expected = run(*instance, pass), found = run(*instance, other);
      for (std::int64_t i = 0; i < 3; ++i)
        look(found[i].masked_select(kept[i].unsqueeze(-1)), expected[i].masked_select(kept[i].unsqueeze(-1)), where);
      if (!subject.promises().cross_attention) continue;
      const auto queries = random_tokens(3, subject.length(5), 7);
      const auto across = [&](const Tensor& context) {
        return run(*instance, {.queries = queries, .context = context, .mask = pass.mask});
      };
      const auto expected_across = across(pass.queries), found_across = across(near_one(n, 8));
      for (std::int64_t i = 0; i < 3; ++i) look(found_across[i], expected_across[i], where + ", cross");
    }
}

}  // namespace

void constants(const AttentionSubject& subject, Finding& finding) {
  // Checks only home(): at other places, a memory that is not full has other numbers, and the first causal reads find no slot.
  const auto token = random_tokens(2, 1, 2);
  const auto alike = [&](std::int64_t n) { return token.expand({2, n, -1}).contiguous(); };
  for (const auto& setting : subject.settings({subject.home()}, kDouble)) {
    if (subject.draws(setting, finding)) continue;
    equal_values(subject, setting, finding);
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
  constants_everywhere(subject, finding);
}

void positions(const AttentionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  const auto tokens = random_tokens(3, n, 2);
  for (auto stand : subject.stands()) {
    stand.positions = Positions::kRotary;
    const auto instance = subject.make(1, stand);
    const auto at = [&](const std::vector<std::int64_t>& first) { return integers(first); };
    finding.near(run(*instance, {tokens}), run(*instance, {.queries = tokens, .position = at({0, 0, 0})}),
                 stand.text() + ", without positions as from 0");
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

namespace {

/// Compares every number in float64, and the medians in float32.
void alike(Finding& finding, const Tensor& found, const Tensor& expected, const std::string& where, const Allowed& exact) {
  expected.scalar_type() == kDouble ? finding.near(found, expected, where, exact)
                                    : finding.near_median(found, expected, where, kMedians);
}

}  // namespace

void equals(const AttentionSubject& subject, const OracleInfo& oracle, Finding& finding) {
  const auto& candidate = subject.candidate();
  const AttentionSubject own(candidate.beside(candidate.descriptor(), oracle.at));
  const AttentionSubject other(candidate.beside(candidate.find(Kind::kAttention, oracle.plugin), oracle.with));
  // Compares only places with nothing around and no state: a memory with these parameters may be longer than the sequence.
  auto both_stand = own.promised_stands();
  const auto known = other.promised_stands();
  std::erase_if(both_stand, [&](const Stand& stand) {
    return stand.carries || std::find(known.begin(), known.end(), stand) == known.end();
  });
  int stands = 0;
  for (const auto& setting : own.settings(both_stand)) {
    if ((setting.type != kDouble && setting.type != kFloat) || own.draws(setting, finding) || other.draws(setting, finding))
      continue;
    ++stands;
    std::vector<std::int64_t> lengths = {37};
    if (own.full()) lengths.insert(lengths.end(), {150, 300});
    for (const auto wanted : lengths) {
      const auto n = own.length(other.length(wanted));
      const auto ours = own.make(1, setting, n), theirs = other.make(2, setting, n);
      copy_common(*theirs, *ours);
      for (const auto& both : plain_and_padded(own, n, 2)) {
        if (both.mask.defined() && !other.promises().key_padding) continue;
        const auto pass = cast(both, setting.type);
        const auto where = fmt::format("{}, {} tokens{}", setting.text(), n, pass.mask.defined() ? ", padded" : "");
        alike(finding, real(run(*ours, pass), pass.mask), real(run(*theirs, pass), pass.mask), where, kRounding);
        const auto found = gradients(*ours, pass, pass.mask), expected = gradients(*theirs, pass, pass.mask);
        for (const auto& [what, gradient] : expected) {
          const auto mine = std::ranges::find(found, what, &Named::what);
          if (mine == found.end()) throw std::logic_error("no " + what);
          alike(finding, mine->value, gradient, where + ", " + what, {1e-8, "float64, a backward pass in another order"});
        }
      }
    }
  }
  if (stands == 0) throw std::runtime_error("the two attentions have no place in common");
}

}  // namespace ablate::conformance
