// Meaning of slots: averages of constants, counts of tokens, and at rate 1 the tokens themselves.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "ablate/kernel_attention.h"
#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/lengths.h"
#include "core/util/rate_text.h"

namespace ablate::conformance {
namespace {

/// Returns [slots, batch, heads, n] bool: true if a token's value is in a slot, found by gradients.
Tensor dealt(const CompressionInstance& compression, const CompressionInputs& in) {
  std::vector<Tensor> uses;
  for (std::int64_t j = 0, count = 1; j < count; ++j) {
    auto own = in;
    own.values = in.values.clone().requires_grad_();
    const auto memory = write(compression, own);
    count = memory.values.size(2);
    const auto slot = memory.values.select(2, j);
    uses.push_back(gradients_of((slot * normal(slot.sizes(), 43, slot.scalar_type())).sum(), {own.values})[0].ne(0).any(-1));
  }
  return ablate::stack(uses, 0);
}

/// True if every token's value is in at most one slot. False if slots overlap, or if every slot contains every token.
bool is_partition(const Tensor& dealt) { return dealt.to(kLong).sum(0).le(1).all().item().toBool(); }

/// True if every slot is one of the tokens: the method selects tokens, and a slot stands only for its token.
bool is_selection(const CompressionInstance& compression, const CompressionInputs& in) {
  const auto memory = write(compression, in);
  const auto apart = [](const Tensor& slots, const Tensor& tokens) {
    return (slots.unsqueeze(3) - tokens.unsqueeze(2)).abs().amax(-1);
  };
  const auto nearest = (apart(memory.keys, in.keys) + apart(memory.values, in.values)).amin(-1);
  return nearest.masked_fill(memory.mass <= 0, 0).eq(0).all().item().toBool();
}

/// Checks an item of `a` equal tokens followed by `b` other equal tokens: every slot must be the mean of one group or of both.
void look_at_groups(Finding& finding, const Memory& memory, const CompressionInputs& in, std::int64_t a, std::int64_t b,
                    bool counts, const std::string& place, const Allowed& allowed) {
  const auto item = [](const Tensor& x) { return x.narrow(0, 0, 1).to(kDouble); };
  const auto both = [&](const Tensor& x) {  // [1, heads, 3, d]: token of group 1, token of group 2, their mean
    const auto one = item(x).narrow(2, 0, 1), other = item(x).narrow(2, a, 1);
    return ablate::cat(
        {one, other, (one * static_cast<double>(a) + other * static_cast<double>(b)) / static_cast<double>(a + b)}, 2);
  };
  const auto keys = both(in.keys), values = both(in.values);
  const auto found = item(memory.values), found_keys = item(memory.keys),
             mass = item(memory.mass).expand({1, found.size(1), -1});
  const double tokens[] = {static_cast<double>(a), static_cast<double>(b), static_cast<double>(a + b)};
  for (std::int64_t h = 0; h < found.size(1); ++h)
    for (std::int64_t j = 0; j < found.size(2); ++j) {
      const double own = mass[0][h][j].item().toDouble();
      if (own <= 0) continue;
      const auto slot = found[0][h][j];
      const auto which = (values[0][h] - slot).abs().amax(-1).argmin().item().toLong();
      const auto where = fmt::format("{}, head {}, slot {}", place, h, j);
      finding.near(slot, values[0][h][which], where + ", value", allowed);
      finding.near(found_keys[0][h][j], keys[0][h][which], where + ", key", allowed);
      if (counts)
        finding.off_by(std::abs(own / tokens[which] - 1),
                       fmt::format("{}: mass {:.4g}, expected {:.4g}", where, own, tokens[which]), allowed);
    }
}

/// Checks that all slots together count every token, and each slot counts the tokens in it. Skips the check of single slots
/// unless all tokens have a gradient: a maximum over tokens has a gradient in only one of them.
void look_at_counts(Finding& finding, const CompressionSubject& subject, const CompressionSetting& setting, std::int64_t n) {
  const auto compression = subject.make(setting);
  for (const bool masked : {false, true}) {
    const auto lengths = masked ? subject.lengths({n, (n + 1) / 2, n - 1, 1}) : subject.lengths({n, n, n});
    const auto in = inputs_of(n, masked ? lengths : std::vector<std::int64_t>{}).to(setting.type);
    const auto place = fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : "");
    const auto mass = write(*compression, in).mass.to(kDouble);  // [batch, heads or 1, slots]
    const auto total = mass.sum(-1);
    finding.near(total, integers(lengths).to(kDouble).unsqueeze(1).expand_as(total), place + ", tokens of all slots",
                 sums_of(setting.type));
    const auto uses = dealt(*compression, in);
    const auto there = masked ? in.mask.unsqueeze(1) : ones({1, 1, 1}, kBool);
    if (!uses.any(0).logical_or(there.logical_not()).all().item().toBool()) continue;
    const auto counts = uses.to(kDouble).sum(-1).permute({1, 2, 0});
    const auto found = mass.expand_as(counts).contiguous().flatten(), expected = counts.contiguous().flatten();
    const auto apart = (found - expected).abs();
    const auto worst = apart.argmax().item().toLong(), slots = counts.size(2), heads = counts.size(1);
    finding.off_by(
        apart[worst].item().toDouble() / std::max(1.0, expected.max().item().toDouble()),
        fmt::format("{}, item {}, head {}, slot {}: mass {:.4g}, expected {:.4g}", place, worst / slots / heads,
                    worst / slots % heads, worst % slots, found[worst].item().toDouble(), expected[worst].item().toDouble()),
        sums_of(setting.type));
  }
}

/// Returns the slots, with 0 for slots without a token.
Tensor standing(const Tensor& slots, const Tensor& mass) { return slots.masked_fill((mass <= 0).unsqueeze(-1), 0); }

/// [batch, 1, n, heads * d]
Tensor as_one_head(const Tensor& x) { return x.transpose(1, 2).flatten(2).unsqueeze(1); }

void look_at_means(Finding& finding, const CompressionInstance& compression, const CompressionInputs& in,
                   const std::string& place, const Allowed& allowed) {
  const auto memory = write(compression, in);
  const auto near = [&](const Memory& found, const Tensor& keys, const Tensor& values, const char* what) {
    finding.near(found.mass, memory.mass.expand_as(found.mass), fmt::format("{}, {}, mass", place, what), allowed);
    finding.near(standing(found.keys, found.mass), standing(keys, found.mass), fmt::format("{}, {}, keys", place, what),
                 allowed);
    finding.near(standing(found.values, found.mass), standing(values, found.mass), fmt::format("{}, {}, values", place, what),
                 allowed);
  };
  // Larger tokens in other directions would change the shares of tokens in a slot if these shares depended on the tokens.
  const auto type = in.keys.scalar_type();
  const auto channels = in.keys.size(-1);
  const auto projection = normal({channels, channels}, 51, type) * 2, bias = normal({channels}, 52, type);
  const auto projected = [&](const Tensor& x) { return x.matmul(projection) + bias; };
  auto others = in;
  others.keys = projected(in.keys), others.values = projected(in.values);
  near(write(compression, others), projected(memory.keys), projected(memory.values), "projected");
  auto one = in;
  one.values = one.keys;
  near(write(compression, one), memory.keys, memory.keys, "keys and values one tensor");
  auto merged = in;
  merged.keys = as_one_head(in.keys), merged.values = as_one_head(in.values);
  const auto of_one = write(compression, merged);
  finding.near(standing(of_one.keys, of_one.mass), standing(as_one_head(memory.keys), of_one.mass),
               place + ", all heads as one, keys", allowed);
  for (const auto similarity : {Similarity::kElu, Similarity::kRelu})
    finding.near(read(compression, in.queries, memory, similarity),
                 kernel_attention(in.queries, memory.keys, memory.values, memory.mass,
                                  similarity == Similarity::kElu ? FeatureMap::kElu : FeatureMap::kRelu),
                 fmt::format("{}, read by {}", place, text_of(similarity)), allowed);
}

void constants_of(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting, std::int64_t n) {
  auto in = inputs_of(n, subject.lengths({n, (n + 1) / 2, 1}), 7, 3, setting.shape).to(setting.type);
  for (auto* x : {&in.keys, &in.values}) *x = x->narrow(2, 0, 1).expand_as(*x);
  const auto compression = subject.make(setting);
  for (const bool masked : {true, false}) {
    const auto memory = write(*compression, masked ? in : in.tokens(0, n));
    const auto place = fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : "");
    const auto there = [&](const Tensor& slot, const Tensor& token, const char* what) {
      const auto expected = token.narrow(2, 0, 1).expand_as(slot);
      const auto none = memory.mass.defined() ? (memory.mass <= 0).unsqueeze(-1) : zeros_like(slot).to(kBool);
      finding.near(slot.masked_fill(none, 0), expected.masked_fill(none, 0), place + ", " + what, sums_of(setting.type));
    };
    there(memory.keys, in.keys, "keys");
    there(memory.values, in.values, "values");
    for (const auto similarity : {Similarity::kSoftmax, Similarity::kElu}) {
      const auto output = read(*compression, in.queries, memory, similarity);
      finding.near(output, in.values.narrow(2, 0, 1).expand_as(output),
                   fmt::format("{}, read by {}", place, text_of(similarity)), sums_of(setting.type));
    }
  }
}

}  // namespace

void constants(const CompressionSubject& subject, Finding& finding) {
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate})) constants_of(subject, finding, setting, subject.length(13));
  if (!subject.full()) return;
  for (const auto& setting : subject.settings(subject.usual(), 300))
    constants_of(subject, finding, setting, subject.length(300));
  for (const auto& shape : {kFourHeads, kEightHeads})
    constants_of(subject, finding, {subject.usual(), kDouble, false, 64, shape}, subject.length(64));
}

void mass(const CompressionSubject& subject, Finding& finding) {
  std::vector<Slots> all;
  for (const auto rate : subject.rates())
    if (rate.value() < 1) all.push_back({rate});
  if (subject.promises().fixed_slots) all.push_back({.fixed = 4});
  for (const auto& slots : all)
    for (const auto& setting : subject.settings(slots)) {
      const auto plain = inputs_of(subject.length(13), {});
      const auto wide = subject.make({slots, kDouble, setting.training});
      if (!is_partition(dealt(*wide, plain))) return finding.leave("slots overlap, so their masses cannot be checked");
      const bool counts = !is_selection(*wide, plain);
      if (counts)
        look_at_counts(finding, subject, setting, subject.length(13));
      else
        finding.say("slots are tokens, and count as themselves");
      // At the lowest rate there are few slots, so more lengths are checked.
      if (counts && subject.full() && setting.type == kDouble && slots == Slots{kLowest})
        for (const auto n : lengths_for(subject, {std::begin(kTurning), std::end(kTurning)}))
          look_at_counts(finding, subject, {slots, kDouble, setting.training, n}, n);
      // Two groups of unequal length: segments of equal length do not mix the groups, and a cluster takes a whole group.
      const auto& rate = slots.rate;
      if (slots.fixed > 0 || (rate.numerator != 1 && rate != Rate{2, 5})) continue;
      const auto a = (rate.denominator + rate.numerator - 1) / rate.numerator, b = a - 1, n = a + b;
      if (b == 0 || subject.length(n) != n) continue;
      const CompressionSetting longer{slots, setting.type, setting.training, std::max<std::int64_t>(64, n + subject.length(3))};
      const auto long_one = subject.make(longer);
      if (counts && n > subject.length(13)) look_at_counts(finding, subject, longer, n);
      for (const bool masked : {false, true}) {
        const auto padded = n + (masked ? subject.length(3) : 0);
        auto in = inputs_of(padded, masked ? std::vector<std::int64_t>{n, a} : std::vector<std::int64_t>{}).to(setting.type);
        for (auto* x : {&in.keys, &in.values})
          *x = ablate::cat({x->narrow(2, 0, 1).expand({-1, -1, a, -1}), x->narrow(2, a, 1).expand({-1, -1, b, -1}),
                            x->narrow(2, n, padded - n)},
                           2);
        look_at_groups(finding, write(*long_one, in), in, a, b, counts,
                       fmt::format("{}, {} tokens alike and {} others{}", setting.text(), a, b, masked ? ", masked" : ""),
                       sums_of(setting.type));
      }
    }
}

void lossless(const CompressionSubject& subject, Finding& finding) {
  const auto counts = subject.full() ? std::vector<std::int64_t>{1, 2, 13, 65} : std::vector<std::int64_t>{1, 13};
  for (const auto& setting : subject.settings({{1, 1}}, 65))
    for (const auto n : subject.lengths(counts))
      for (const bool masked : {false, true}) {
        const auto lengths = masked ? subject.lengths({n, (n + 1) / 2}) : std::vector<std::int64_t>{};
        const auto in = inputs_of(n, lengths).to(setting.type);
        const auto compression = subject.make(setting);
        const auto memory = write(*compression, in);
        const auto exact = in.to(kDouble);
        for (const auto similarity : kSimilarities)
          for (const bool causal : {false, true}) {
            if (causal && !subject.promises().causal_reads) continue;
            const auto offset = n / 3;
            const auto map = [&](const Tensor& x) { return similarity == Similarity::kRelu ? x.relu() : elu(x) + 1; };
            auto weights = similarity == Similarity::kSoftmax ? (exact.queries.matmul(exact.keys.transpose(-1, -2)) /
                                                                 std::sqrt(static_cast<double>(CompressionSubject::kChannels)))
                                                                    .exp()
                                                              : map(exact.queries).matmul(map(exact.keys).transpose(-1, -2));
            if (masked) weights = weights.masked_fill(exact.gone().transpose(-1, -2), 0);
            if (causal)
              weights =
                  weights.masked_fill(arange(n).unsqueeze(0) > arange(CompressionSubject::kQueries).unsqueeze(1) + offset, 0);
            const auto sum = weights.sum(-1, true);
            const auto expected = weights.matmul(exact.values) / sum.masked_fill(sum <= 0, 1);
            const auto found =
                read(*compression, in.queries, memory, similarity, causal ? std::optional(offset) : std::nullopt);
            finding.near(found, expected,
                         fmt::format("{}, {} tokens{}, read by {}{}", setting.text(), n, masked ? ", masked" : "",
                                     text_of(similarity), causal ? ", causal" : ""),
                         sums_of(setting.type));
          }
      }
}

void means(const CompressionSubject& subject, Finding& finding) {
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate}, 65)) {
      const auto compression = subject.make(setting);
      for (const auto n : subject.lengths({1, 13, 64, 65}))
        for (const bool masked : {false, true}) {
          const auto lengths = masked ? subject.lengths({n, (n + 1) / 2}) : std::vector<std::int64_t>{};
          look_at_means(finding, compression, inputs_of(n, lengths).to(setting.type),
                        fmt::format("{}, {} tokens{}", setting.text(), n, masked ? ", masked" : ""), sums_of(setting.type));
        }
    }
}

void constants_of_many(const CompressionSubject& subject, Finding& finding) {
  for (const auto n : lengths_for(subject, {std::begin(kTurning), std::end(kTurning)}))
    for (const bool training : {false, true}) constants_of(subject, finding, {subject.usual(), kDouble, training, n}, n);
  for (const auto n : lengths_beyond(subject)) constants_of(subject, finding, {subject.usual(), kDouble, false, n}, n);
  if (const auto slots = subject.long_segments())
    for (const auto n : lengths_for(subject, {256, 300, 512, 650}))
      constants_of(subject, finding, {*slots, kDouble, false, n}, n);
}

}  // namespace ablate::conformance
