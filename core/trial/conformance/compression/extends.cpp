// Checks writes onto an existing memory: with any batch mates, masks and scales, the result must equal one write of all tokens.
#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/lengths.h"

namespace ablate::conformance {
namespace {

std::vector<Named> reads_of(const CompressionInstance& compression, const Tensor& queries, const Memory& memory) {
  std::vector<Named> all;
  for (const auto similarity : kSimilarities)
    all.push_back({std::string("read by ") + text_of(similarity), read(compression, queries, memory, similarity)});
  return all;
}

/// Returns the gradient of all reads in the keys and values of the tokens from `first` on.
std::vector<Named> later_gradients(const std::vector<Named>& reads, const CompressionInputs& leaves, std::int64_t first) {
  Tensor loss;
  for (const auto& [what, value] : reads) {
    const auto term = (value * normal(value.sizes(), 11)).sum();
    loss = loss.defined() ? loss + term : term;
  }
  const auto found = gradients_of(loss, {leaves.keys, leaves.values});
  const auto later = [&](const Tensor& gradient) { return gradient.narrow(2, first, gradient.size(2) - first); };
  return {{"gradient of keys", later(found[0])}, {"gradient of values", later(found[1])}};
}

CompressionInputs as_leaves(CompressionInputs in) {
  in.keys = in.keys.clone().requires_grad_();
  in.values = in.values.clone().requires_grad_();
  return in;
}

Slots slots_to_extend(const CompressionSubject& subject) {
  return subject.promises().fixed_slots ? Slots{.fixed = 4} : subject.usual();
}

/// Writes items of several lengths in two padded parts. Each item must equal the same item alone, written at once.
void look_at_masks(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting) {
  const auto firsts = subject.lengths({5, 2, 3, 0}), seconds = subject.lengths({1, 7, 0, 4});
  const auto n = subject.length(5), m = subject.length(7);
  const auto compression = subject.make(setting);
  const auto one = inputs_of(n, firsts, 7).to(setting.type);
  auto two = inputs_of(m, seconds, 8).to(setting.type);
  two.queries = one.queries;
  const auto held = write(*compression, one);
  const auto extended = reads_of(*compression, one.queries, write(*compression, two, &held));
  // NaN may stand under the masks.
  const auto held_otherwise = write(*compression, one.padded_with(std::nan("")));
  finding.near(reads_of(*compression, one.queries, write(*compression, two.padded_with(std::nan("")), &held_otherwise)),
               extended, setting.text() + ", NaN under the masks of both parts", same_shape(setting.type));
  if (setting.type != kDouble) return;
  for (std::size_t i = 0; i < firsts.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const auto a = one.item(at, firsts[i]), b = two.item(at, seconds[i]);
    const CompressionInputs whole{a.queries, ablate::cat({a.keys, b.keys}, 2), ablate::cat({a.values, b.values}, 2), {}};
    finding.near(item_of(extended, at), reads_of(*compression, a.queries, write(*compression, whole)),
                 fmt::format("{}, item {}: {} and {} tokens, padded", setting.text(), i, firsts[i], seconds[i]), kRounding);
  }
}

/// Returns reads of a memory that was written in three parts of equal length.
std::vector<Named> reads_of_thirds(const CompressionInstance& compression, const CompressionInputs& in) {
  const auto third = in.length() / 3;
  auto memory = write(compression, in.tokens(0, third));
  for (const std::int64_t part : {1, 2}) {
    const auto held = memory;
    memory = write(compression, in.tokens(part * third, third), &held);
  }
  return reads_of(compression, in.queries, memory);
}

}  // namespace

void batch_of_held(const CompressionSubject& subject, Finding& finding) {
  const auto slots = slots_to_extend(subject);
  if (!subject.promises().extends || slots.fixed == 0) return;
  for (const auto& setting : subject.settings(slots)) {
    const auto compression = subject.make(setting);
    const auto in = inputs_of(3 * subject.length(12), {}, 7, 9).to(setting.type);
    if (draws(pass(compression, in, {.with_gradients = false}), finding)) continue;
    const auto together = reads_of_thirds(compression, in);
    for (const std::int64_t i : {0, 4, 8})
      compare_items(finding, item_of(together, i), reads_of_thirds(compression, in.item(i, in.length())),
                    fmt::format("{}, item {} of 9 in three parts, against the item alone", setting.text(), i), setting.type);
  }
}

void extends(const CompressionSubject& subject, Finding& finding) {
  const auto slots = slots_to_extend(subject);
  const bool is_fixed = slots.fixed > 0;
  for (const auto& setting : subject.settings(slots)) {
    const auto counts = subject.full() ? std::vector<std::int64_t>{12, 64} : std::vector<std::int64_t>{12};
    for (const auto n : subject.lengths(counts)) {
      const auto compression = subject.make(setting);
      const auto in = as_leaves(inputs_of(n, {}).to(setting.type));
      if (draws(pass(*compression, in, {.with_gradients = false}), finding)) continue;
      const auto whole = reads_of(*compression, in.queries, write(*compression, in));
      for (std::int64_t part = subject.length(1); part < n; part += subject.length(1)) {
        if (!is_fixed && part % slots.rate.denominator != 0) continue;        // not at a slot's border
        if (n > 13 && part != 1 && part % 16 > 1 && part != n - 1) continue;  // only some cuts of the long sequence
        const auto place = fmt::format("{}, {} and {} tokens", setting.text(), part, n - part);
        const auto own = as_leaves(in);
        const auto held = write(*compression, own.tokens(0, part));
        const auto before = copies({held.values, held.mass.defined() ? held.mass : held.values});
        const auto extended = reads_of(*compression, own.queries, write(*compression, own.tokens(part, n - part), &held));
        compare_items(finding, extended, whole, place, setting.type);
        if (setting.type == kDouble) {
          const auto right = later_gradients(reads_of(*compression, in.queries, write(*compression, in)), in, part);
          finding.near(later_gradients(extended, own, part), right, place, kRounding);
        }
        finding.near(held.values, before[0], place + ", values of the memory held", kExact);
        if (held.mass.defined()) finding.near(held.mass, before[1], place + ", mass of the memory held", kExact);
        // The batch mates get other memories and tokens.
        auto mates = own;
        for (auto* x : {&mates.keys, &mates.values}) *x = ablate::cat({x->narrow(0, 0, 1), x->narrow(0, 1, 2) * 10.0});
        const auto beside = write(*compression, mates.tokens(0, part));
        finding.near(
            item_of(reads_of(*compression, own.queries, write(*compression, mates.tokens(part, n - part), &beside)), 0),
            item_of(extended, 0), place + ", other mates", same_shape(setting.type));
      }
    }
    if (!is_fixed) continue;
    look_at_masks(subject, finding, setting);
    const auto compression = subject.make(setting);
    const auto in = as_leaves(inputs_of(3 * subject.length(12), {}, 7, 9).to(setting.type)), own = as_leaves(in);
    if (pass(compression, in, {.with_gradients = false}).drew) continue;
    const auto whole = reads_of(compression, in.queries, write(compression, in)), parts = reads_of_thirds(compression, own);
    const auto place = setting.text() + ", 9 items in three parts";
    compare_items(finding, parts, whole, place, setting.type);
    if (setting.type != kDouble) continue;
    const auto last = in.length() / 3 * 2;
    const auto right = later_gradients(whole, in, last);
    finding.near(later_gradients(parts, own, last), right, place, kRounding);
  }
}

void log_scale(const CompressionSubject& subject, Finding& finding) {
  const bool extends = subject.promises().extends;
  const auto slots = extends ? slots_to_extend(subject) : subject.usual();
  for (const bool training : {false, true}) {
    const CompressionSetting setting{slots, kDouble, training};
    const auto compression = subject.make(setting);
    const auto n = subject.length(12);
    auto in = inputs_of(n, {});
    // The largest exponents of the two parts are far apart.
    const auto first = in.tokens(0, subject.length(6));
    auto second = in.tokens(0, subject.length(6));
    second.keys = second.keys * 5.0;
    const auto held = write(*compression, first);
    if (!held.log_scale.sizes().equals(at::IntArrayRef({3, CompressionSubject::kHeads, 1, 1})))
      throw std::runtime_error(setting.text() + ": a scale that is not [batch, heads, 1, 1]");
    auto shifted = held;
    const double by = std::log(8.0);
    shifted.values = held.values / 8.0;
    if (held.mass.defined()) shifted.mass = held.mass / 8.0;
    shifted.log_scale = held.log_scale + by;
    finding.near(reads_of(*compression, in.queries, shifted), reads_of(*compression, in.queries, held),
                 setting.text() + ", divided by 8 with log_scale adapted", kRounding);
    if (!extends) continue;
    finding.near(reads_of(*compression, in.queries, write(*compression, second, &shifted)),
                 reads_of(*compression, in.queries, write(*compression, second, &held)),
                 setting.text() + ", divided by 8 with log_scale adapted, then extended", kRounding);
    for (const bool swapped : {false, true}) {
      const auto& one = swapped ? second : first;
      const auto& two = swapped ? first : second;
      const CompressionInputs whole{
          in.queries, ablate::cat({one.keys, two.keys}, 2), ablate::cat({one.values, two.values}, 2), {}};
      const auto part = write(*compression, one);
      finding.near(reads_of(*compression, in.queries, write(*compression, two, &part)),
                   reads_of(*compression, in.queries, write(*compression, whole)),
                   setting.text() + (swapped ? ", small after large" : ", large after small"), kRounding);
    }
  }
}

void extends_beyond(const CompressionSubject& subject, Finding& finding) {
  const NoGradGuard none;
  const auto slots = subject.promises().fixed_slots ? Slots{.fixed = 4} : subject.usual();
  const auto n = subject.length(1000);
  const CompressionSetting setting{slots, kDouble, false, n};
  const auto compression = subject.make(setting);
  const auto in = inputs_of(n, {});
  const auto whole = write(*compression, in);
  for (const auto part : lengths_for(subject, {64, 128, 256, 257, 258, 300, 513, 936})) {
    if (slots.fixed == 0 && part % slots.rate.denominator != 0) continue;  // not at a slot's border
    const auto held = write(*compression, in.tokens(0, part));
    const auto extended = write(*compression, in.tokens(part, n - part), &held);
    for (const auto similarity : kSimilarities)
      finding.near(read(*compression, in.queries, extended, similarity), read(*compression, in.queries, whole, similarity),
                   fmt::format("{}, {} and {} tokens, read by {}", setting.text(), part, n - part, text_of(similarity)),
                   kRounding);
  }
}

}  // namespace ablate::conformance
