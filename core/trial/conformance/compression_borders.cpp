// Causal reads, at every place: each item of a batch has other tokens from a place of its own on, and no query before it reads
// otherwise.
#include <fmt/format.h>

#include "core/trial/conformance/compression_contract.h"

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

std::vector<std::int64_t> places_of(std::int64_t n, bool all) {
  std::vector<std::int64_t> places;
  for (std::int64_t k = 1; k < n; ++k)
    if (all || k % 16 == 0 || k % 16 == 1 || k % 16 == 15) places.push_back(k);
  return places;
}

}  // namespace

void causal_places(const CompressionSubject& subject, Finding& finding) {
  if (!subject.full()) return;
  const auto look = [&](const Slots& slots, std::int64_t tokens, bool training, bool all) {
    const auto n = subject.length(tokens);
    const CompressionSetting setting{slots, kDouble, training, n};
    if (training && pass(*subject.make(setting), inputs_of(n, {}), {.with_gradients = false}).drew)
      return finding.leave(kDraws);
    look_at_places(subject, setting, places_of(n, all), finding);
  };
  for (const bool training : {false, true}) look(subject.usual(), 150, training, true);
  look(subject.usual(), 300, false, true);
  const auto lowest = subject.takes(kLowest) ? Slots{kLowest} : subject.usual();
  look(lowest, 1100, false, subject.takes(kLowest));
}

}  // namespace ablate::conformance
