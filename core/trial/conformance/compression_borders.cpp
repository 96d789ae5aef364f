// Causal reads, at every place: each item of a batch has other tokens from a place of its own on, and no query before it reads
// otherwise.
#include <fmt/format.h>

#include "core/trial/conformance/compression_contract.h"
#include "core/trial/conformance/lengths.h"

namespace ablate::conformance {
namespace {

/// Keys or values of one item, and behind it those with others from each border on, 30 times as large.
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
      const auto found = causal_read(*compression, in.queries, memory, similarity, 0);
      const auto expected = found.narrow(0, 0, 1);
      const auto after = found.narrow(0, 1, found.size(0) - 1);
      const auto off = (after - expected).abs().masked_fill(seen.logical_not(), 0).nan_to_num(kWrong).flatten(1).amax(1);
      const auto worst = off.argmax().item().toLong(), k = own[static_cast<std::size_t>(worst)];
      finding.near(after.narrow(0, worst, 1).narrow(2, 0, k), expected.narrow(2, 0, k),
                   fmt::format("{}, {} tokens, other ones from {} on, read by {}", setting.text(), n, k, text_of(similarity)),
                   kRounding);
    }
  }
}

/// The places behind each slot's last token. Other tokens from a place between two of them on change no more: a slot that is
/// complete before it is so before the place in front of it, too.
std::vector<std::int64_t> behind_slots(const CompressionSubject& subject, const CompressionSetting& setting) {
  const auto last = write(*subject.make(setting), inputs_of(setting.longest, {}, 7, 1)).last;
  std::vector<std::int64_t> places;
  for (std::int64_t j = 0; j < last.size(0); ++j)
    if (const auto k = last[j].item().toLong() + 1; k > 0 && k < setting.longest) places.push_back(k);
  return places;
}

}  // namespace

void causal_places(const CompressionSubject& subject, Finding& finding) {
  if (!subject.full()) return;
  const auto n = subject.length(150), many = subject.length(300), most = subject.length(1100);
  const CompressionSetting plain{subject.usual(), kDouble, false, n}, trains{subject.usual(), kDouble, true, n};
  look_at_places(subject, plain, every_border(n), finding);
  if (pass(*subject.make(trains), inputs_of(n, {}), {.with_gradients = false}).drew)
    finding.leave(kDraws);
  else
    look_at_places(subject, trains, behind_slots(subject, trains), finding);
  const CompressionSetting longer{subject.usual(), kDouble, false, many};
  look_at_places(subject, longer, behind_slots(subject, longer), finding);
  // At the lowest rate, whose few slots keep reads of so many tokens small.
  const bool lowest = subject.takes(kLowest);
  auto borders = borders_of_blocks(most, lowest ? 64 : 256);
  for (const auto k : spread_borders(most, 11)) borders.push_back(k);
  look_at_places(subject, {lowest ? Slots{kLowest} : subject.usual(), kDouble, false, most}, borders, finding);
}

}  // namespace ablate::conformance
