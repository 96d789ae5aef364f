// What a compression promises of its slots: when they are complete, how many there are, and that a memory can be written on.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/compression_suite.h"
#include "core/util/rate_text.h"

namespace ablate {
namespace {

/// A memory's first slots.
Memory first_slots(const Memory& memory, std::int64_t count) {
  Memory cut = memory;
  for (auto* tensor : {&cut.keys, &cut.values, &cut.mass, &cut.slots})
    if (tensor->defined()) *tensor = tensor->narrow(2, 0, count);
  cut.last = memory.last.narrow(0, 0, count);
  return cut;
}

/// Throws where slots are not complete one after the other, or the first one never is.
void check_last(const Memory& memory, std::int64_t tokens) {
  const auto& last = memory.last;
  const auto count = last.size(0);
  if (count > 1 && (last.narrow(0, 1, count - 1) < last.narrow(0, 0, count - 1)).any().item().toBool())
    throw std::runtime_error("last does not rise");
  if (last[0].item().toLong() >= tokens)
    throw std::runtime_error(fmt::format("of {} slots for {} tokens none is ever complete", count, tokens));
}

}  // namespace

double CompressionSuite::causal_reads() {
  double largest = 0;
  const auto n = fit(13);
  for (const auto rate : {Rate{1, 1}, Rate{1, 2}, Rate{1, 3}, Rate{2, 5}, Rate{3, 4}}) {
    const auto compression = probe_.make({rate});
    const auto in = CompressionProbe::inputs(n, {});
    const auto memory = CompressionProbe::write(*compression, in);
    check_last(memory, n);
    for (std::int64_t offset = 0; offset + CompressionProbe::kQueries <= n; offset += 2)
      for (const auto similarity : kSimilarities) {
        const auto found = CompressionProbe::causal_read(*compression, in.queries, memory, similarity, offset);
        for (std::int64_t i = 0; i < CompressionProbe::kQueries; ++i) {
          const auto complete = (memory.last <= offset + i).sum().item().toLong();
          const auto query = in.queries.narrow(2, i, 1), own = found.narrow(2, i, 1);
          const auto expected = complete == 0
                                    ? zeros_like(own)
                                    : CompressionProbe::read(*compression, query, first_slots(memory, complete), similarity);
          largest = std::max(largest, at(fmt::format("rate {}, position {}, {} slots", to_text(rate), offset + i, complete),
                                         difference(own, expected), kRounding));
        }
        // Tokens behind the last query are others: whoever looked at them, by a wrong `last` or while writing, is found.
        const auto seen = offset + CompressionProbe::kQueries;
        if (seen >= n || fit(1) != 1) continue;
        auto other = in;
        for (auto* x : {&other.keys, &other.values})
          *x = ablate::cat({x->narrow(2, 0, seen), normal({x->size(0), x->size(1), n - seen, x->size(3)}, 31) * 3.0}, 2);
        const auto changed = CompressionProbe::write(*compression, other);
        largest = std::max(
            largest, at(fmt::format("rate {}, tokens after {}", to_text(rate), seen - 1),
                        difference(CompressionProbe::causal_read(*compression, in.queries, changed, similarity, offset), found),
                        kRounding));
      }
  }
  return largest;
}

double CompressionSuite::fixed_slots() {
  double largest = 0;
  for (const std::int64_t fixed : {1, 4, 7}) {
    const Slots slots{.fixed = fixed};
    const auto compression = probe_.make(slots);
    for (const std::int64_t tokens : {1, 3, 4, 6, 7, 8, 20, 64}) {
      const auto n = fit(tokens);
      const auto place = fmt::format("{} slots, {} tokens", fixed, n);
      const auto in = CompressionProbe::inputs(n, {n, fit((n + 1) / 2), 0});
      const auto memory = CompressionProbe::write(*compression, in);
      const bool right = memory.values.size(2) == fixed && (!memory.slots.defined() || memory.slots.all().item().toBool());
      largest = std::max(largest, at(place, right ? 0 : kWrong));
      const auto pass = CompressionProbe::pass(*compression, in);
      largest = std::max(largest, at(place + ", outputs", unless_finite(pass.outputs)));
      largest = std::max(largest, at(place + ", gradients", unless_finite(pass.gradients)));
      for (const auto& output : pass.outputs)
        largest = std::max(largest, at(place + ", an item without a token", difference(output[2], zeros_like(output[2]))));
    }
    largest = std::max(largest, padding(slots, {fit(13), fit(7), fit(4), fit(1)}));
  }
  return largest;
}

double CompressionSuite::extends() {
  double largest = 0;
  const bool is_fixed = probe_.promises().fixed_slots;
  const auto compression = probe_.make(is_fixed ? Slots{.fixed = 4} : Slots{{1, 2}});
  const auto n = fit(12);
  const auto in = CompressionProbe::inputs(n, {});
  const auto whole = CompressionProbe::write(*compression, in);
  for (std::int64_t part = fit(1); part < n; part += fit(1)) {
    if (!is_fixed && part % 2 != 0) continue;  // between slots
    const auto held = CompressionProbe::write(*compression, in.tokens(0, part));
    const auto before = copies({held.values});
    const auto extended = CompressionProbe::write(*compression, in.tokens(part, n - part), &held);
    const auto place = fmt::format("{} and {} tokens", part, n - part);
    for (const auto similarity : kSimilarities)
      largest = std::max(largest, at(place,
                                     difference(CompressionProbe::read(*compression, in.queries, extended, similarity),
                                                CompressionProbe::read(*compression, in.queries, whole, similarity)),
                                     kRounding));
    largest = std::max(largest, at(place + ", the memory held is changed", difference(before, {held.values})));
  }
  return largest;
}

}  // namespace ablate
