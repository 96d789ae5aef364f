// Causal reads: a query sees only slots that are complete at its position, and no later token matters.
#include <fmt/format.h>

#include <stdexcept>

#include "core/trial/conformance/compression/contract.h"
#include "core/trial/conformance/engine/lengths.h"
#include "core/util/rate_text.h"

namespace ablate::conformance {
namespace {

/// Advice after the fault "a slot is complete earlier or later than Memory::last".
constexpr const char* kWhereLast =
    "; correct Memory::last, or do not promise causal_reads with these parameters (.promises in ablate/plugin.h)";

/// Returns the first slots of a memory.
Memory first_slots(const Memory& memory, std::int64_t count) {
  Memory cut = memory;
  for (auto* tensor : {&cut.keys, &cut.values, &cut.mass, &cut.slots})
    if (tensor->defined()) *tensor = tensor->narrow(2, 0, count);
  cut.last = memory.last.narrow(0, 0, count);
  return cut;
}

/// Throws if `last` falls from one slot to the next. Also throws if the first slot is never complete, although there are at
/// least 2 * rate.denominator tokens.
void check_order(const Memory& memory, Rate rate, std::int64_t tokens, const std::string& place) {
  const auto& last = memory.last;
  const auto count = last.size(0);
  if (count > 1 && (last.narrow(0, 1, count - 1) < last.narrow(0, 0, count - 1)).any().item().toBool())
    throw std::runtime_error(place + ": last does not rise");
  if (last[0].item().toLong() >= tokens && tokens >= 2 * rate.denominator)
    throw std::runtime_error(fmt::format("{}: {} slots for {} tokens, but no slot is ever complete", place, count, tokens));
}

/// Checks that a query reads only the slots that are complete at its position: a memory without the other slots must give the
/// same read. The read must be 0 if no slot is complete.
void look_at_cut(Finding& finding, const CompressionInstance& compression, const CompressionInputs& in, const Memory& memory,
                 std::int64_t offset, const std::string& place) {
  for (const auto similarity : kSimilarities) {
    const auto found = read(compression, in.queries, memory, similarity, offset);
    for (std::int64_t i = 0; i < CompressionSubject::kQueries; ++i) {
      const auto complete = (memory.last <= offset + i).sum().item().toLong();
      const auto query = in.queries.narrow(2, i, 1), own = found.narrow(2, i, 1);
      finding.near(own, complete == 0 ? zeros_like(own) : read(compression, query, first_slots(memory, complete), similarity),
                   fmt::format("{}, position {}, which sees {} slots, {}", place, offset + i, complete, text_of(similarity)),
                   kRounding);
    }
  }
}

/// Checks reads and gradients with other tokens after the last query. Finds a wrong `last`, a write that looks ahead, and
/// gradients in later tokens.
void look_at_future(const CompressionSubject& subject, Finding& finding, const CompressionSetting& setting,
                    const CompressionInputs& in, std::int64_t offset) {
  const auto n = in.length(), seen = subject.length(offset + CompressionSubject::kQueries);
  if (seen >= n) return;
  const auto compression = subject.make(setting);
  auto other = in;
  for (auto* x : {&other.keys, &other.values})
    *x = ablate::cat({x->narrow(2, 0, seen), normal({x->size(0), x->size(1), n - seen, x->size(3)}, 31, setting.type) * 30.0},
                     2);
  const auto place = fmt::format("{}, {} tokens, other tokens after {}", setting.text(), n, seen - 1);
  const auto buffers = contents(*compression);
  const auto before = copies(buffers);
  const auto reads = [&](const CompressionInputs& given) {
    std::vector<Tensor> all;
    const auto memory = write(*compression, given);
    for (const auto similarity : kSimilarities) all.push_back(read(*compression, given.queries, memory, similarity, offset));
    return all;
  };
  auto leaves = in;
  leaves.keys = in.keys.clone().requires_grad_();
  leaves.values = in.values.clone().requires_grad_();
  const auto found = reads(leaves);
  const auto gradients = gradients_of((ablate::stack(found) * normal(ablate::stack(found).sizes(), 11, setting.type)).sum(),
                                      {leaves.keys, leaves.values});
  for (const auto& gradient : gradients) {
    const auto later = gradient.narrow(2, seen, n - seen);
    finding.near(later, zeros_like(later), place + ", gradients in later tokens", left_of_zero(setting.type));
  }
  {
    const NoGradGuard none;
    for (std::size_t i = 0; i < before.size(); ++i) buffers[i].copy_(before[i]);
  }
  const auto changed = reads(other);
  for (std::size_t i = 0; i < found.size(); ++i)
    finding.near(changed[i], found[i], fmt::format("{}, read by {}", place, text_of(kSimilarities[i])),
                 same_shape(setting.type));
}

/// Returns keys or values of one item, then copies with other numbers from each border on, 30 times as large.
Tensor first_and_others(const Tensor& x, const std::vector<std::int64_t>& borders, std::uint64_t seed) {
  const auto later = (arange(x.size(2)).unsqueeze(0) >= integers(borders).unsqueeze(1)).unsqueeze(1).unsqueeze(-1);
  return ablate::cat({x, (normal(x.sizes(), seed) * 30).where(later, x)}, 0);
}

void look_at_places(const CompressionSubject& subject, const CompressionSetting& setting,
                    const std::vector<std::int64_t>& borders, Finding& finding) {
  const NoGradGuard none;
  const auto n = setting.longest;
  const auto one = inputs_of(n, {}, 7, 1);
  const auto queries = normal({1, CompressionSubject::kHeads, n, CompressionSubject::kChannels}, 5);
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(2, 3'000'000 / (n * setting.slots.of(n))));
  for (std::size_t first = 0; first < borders.size(); first += most) {
    const std::vector<std::int64_t> own(borders.begin() + static_cast<std::ptrdiff_t>(first),
                                        borders.begin() + static_cast<std::ptrdiff_t>(std::min(borders.size(), first + most)));
    CompressionInputs in{queries.expand({static_cast<std::int64_t>(own.size()) + 1, -1, -1, -1}).contiguous(),
                         first_and_others(one.keys, own, 31),
                         first_and_others(one.values, own, 32),
                         {}};
    const auto compression = subject.make(setting);
    const auto memory = write(*compression, in);
    const auto seen = (arange(n).unsqueeze(0) < integers(own).unsqueeze(1)).unsqueeze(1).unsqueeze(-1);
    for (const auto similarity : kSimilarities) {
      const auto found = read(*compression, in.queries, memory, similarity, 0);
      const auto expected = found.narrow(0, 0, 1);
      const auto after = found.narrow(0, 1, found.size(0) - 1);
      const auto off = (after - expected).abs().masked_fill(seen.logical_not(), 0).nan_to_num(kWrong).flatten(1).amax(1);
      const auto worst = off.argmax().item().toLong(), k = own[static_cast<std::size_t>(worst)];
      finding.near(after.narrow(0, worst, 1).narrow(2, 0, k), expected.narrow(2, 0, k),
                   fmt::format("{}, {} tokens, other tokens from {} on, read by {}", setting.text(), n, k, text_of(similarity)),
                   kRounding);
    }
  }
}

/// Returns the place after each slot's last token. Places between these find no more faults: the same slots are complete.
std::vector<std::int64_t> behind_slots(const CompressionSubject& subject, const CompressionSetting& setting) {
  const auto last = write(*subject.make(setting), inputs_of(setting.longest, {}, 7, 1)).last;
  std::vector<std::int64_t> places;
  for (std::int64_t j = 0; j < last.size(0); ++j)
    if (const auto k = last[j].item().toLong() + 1; k > 0 && k < setting.longest) places.push_back(k);
  return places;
}

}  // namespace

void causal_reads(const CompressionSubject& subject, Finding& finding) {
  const auto n = subject.length(13);
  for (const auto rate : subject.rates())
    for (const auto& setting : subject.settings({rate})) {
      const auto in = inputs_of(n, {}).to(setting.type);
      const auto compression = subject.make(setting);
      const auto memory = write(*compression, in);
      check_order(memory, rate, n, setting.text());
      for (std::int64_t offset = 0; offset + CompressionSubject::kQueries <= n; offset += 2) {
        if (setting.type == kDouble) look_at_cut(finding, *compression, in, memory, offset, setting.text());
        look_at_future(subject, finding, setting, in, offset);
      }
    }
  if (!subject.full()) return;
  for (const std::int64_t many : {65, 150, 300})
    for (const auto& slots : {subject.usual(), subject.uneven()})
      for (const auto& setting : subject.settings(slots, many)) {
        if (setting.type != kDouble && slots == subject.uneven()) continue;
        const auto in = inputs_of(subject.length(many), {}, 7, 2).to(setting.type);
        const auto compression = subject.make(setting);
        const auto memory = write(*compression, in);
        check_order(memory, slots.rate, in.length(), setting.text());
        for (const std::int64_t offset : {std::int64_t{27}, std::int64_t{58}, many / 2, many - 8}) {
          if (setting.type == kDouble) look_at_cut(finding, *compression, in, memory, offset, setting.text());
          look_at_future(subject, finding, setting, in, offset);
        }
      }
}

void last(const CompressionSubject& subject, Finding& finding) {
  const auto n = subject.length(subject.full() ? 67 : 13);
  for (const auto rate : subject.rates())
    for (const bool training : {false, true}) {
      const CompressionSetting setting{{rate}, kDouble, training, n};
      const auto compression = subject.make(setting);
      // One item for each token that is replaced, and a last item without a replaced token.
      auto in = inputs_of(n, {}, 7, 1);
      const auto at = arange(n + 1).unsqueeze(1) == arange(n).unsqueeze(0);  // [n + 1, n]
      const auto other = [&](const Tensor& x, std::uint64_t seed) {
        return x + normal(x.sizes(), seed) * 50.0 * at.to(kDouble).view({n + 1, 1, n, 1});
      };
      in = {in.queries.expand({n + 1, -1, -1, -1}), other(in.keys, 33), other(in.values, 34), {}};
      if (draws(pass(*compression, in, {.with_gradients = false}), finding)) continue;  // each item draws other numbers
      finding.saw();
      const auto memory = write(*compression, in);
      check_order(memory, rate, n, setting.text());
      Tensor changes;  // [n, slots]: true if a token changes a slot
      for (const auto& tensor : {memory.keys, memory.values}) {
        if (!tensor.defined()) continue;
        const auto here = tensor.narrow(0, 0, n).ne(tensor.narrow(0, n, 1)).any(3).any(1);
        changes = changes.defined() ? changes.logical_or(here) : here;
      }
      for (std::int64_t j = 0; j < memory.last.size(0); ++j) {
        const auto end = memory.last[j].item().toLong();
        const auto tokens = changes.select(1, j).nonzero().flatten();
        const auto latest = tokens.numel() == 0 ? -1 : tokens[-1].item().toLong();
        if (latest > end || (end < n && latest < end))
          throw std::runtime_error(
              fmt::format("{}: slot {} is declared complete with token {}, but {}{}", setting.text(), j, end,
                          latest < 0 ? "no token changes it" : fmt::format("token {} is the last one that changes it", latest),
                          kWhereLast));
      }
    }
}

void causal_places(const CompressionSubject& subject, Finding& finding) {
  const auto n = subject.length(150), many = subject.length(300), most = subject.length(1100);
  const CompressionSetting plain{subject.usual(), kDouble, false, n}, trains{subject.usual(), kDouble, true, n};
  look_at_places(subject, plain, every_border(n), finding);
  if (!draws(pass(*subject.make(trains), inputs_of(n, {}), {.with_gradients = false}), finding))
    look_at_places(subject, trains, behind_slots(subject, trains), finding);
  const CompressionSetting longer{subject.usual(), kDouble, false, many};
  look_at_places(subject, longer, behind_slots(subject, longer), finding);
  // Uses the lowest rate, because its few slots keep reads of so many tokens small.
  const bool lowest = subject.takes(kLowest);
  auto borders = borders_of_blocks(most, lowest ? 64 : 256);
  for (const auto k : spread_borders(most, 11)) borders.push_back(k);
  look_at_places(subject, {lowest ? Slots{kLowest} : subject.usual(), kDouble, false, most}, borders, finding);
}

}  // namespace ablate::conformance
