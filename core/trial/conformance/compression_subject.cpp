#include "core/trial/conformance/compression_subject.h"

#include <fmt/format.h>

#include <stdexcept>

#include "core/util/rate_text.h"

namespace ablate {
namespace {

constexpr Rate kRatesFull[] = {{1, 1}, {1, 2}, {1, 3}, {2, 5}, {3, 4}, kSixteenth, kLowest};
constexpr Rate kRatesSmall[] = {{1, 1}, {1, 3}, {2, 5}};

}  // namespace

std::string CompressionSetting::text() const {
  const auto how = slots.fixed > 0 ? fmt::format("{} slots", slots.fixed) : "rate " + to_text(slots.rate);
  const auto heads = shape.heads == HeadShape().heads ? "" : fmt::format(", {} heads", shape.heads);
  return fmt::format("{}, {}{}{}", how, name_of(type), training ? ", in training" : "", heads);
}

CompressionSubject::CompressionSubject(Candidate candidate, Depth depth) : Subject(std::move(candidate), depth) {
  for (const auto rate : full() ? std::span<const Rate>(kRatesFull) : std::span<const Rate>(kRatesSmall)) {
    try {
      make({.slots = {rate}});
    } catch (const std::invalid_argument& refusal) {
      refusals_ += fmt::format("{}rate {} refused: {}", refusals_.empty() ? "" : "; ", to_text(rate), refusal.what());
      continue;
    } catch (...) {  // the checks will meet it, and say so
    }
    rates_.push_back(rate);
  }
}

bool CompressionSubject::takes(Rate rate) const { return std::find(rates_.begin(), rates_.end(), rate) != rates_.end(); }

Slots CompressionSubject::usual() const {
  if (takes({1, 3})) return {{1, 3}};
  const auto below = std::find_if(rates_.begin(), rates_.end(), [](Rate rate) { return rate.value() < 1; });
  return {below != rates_.end() ? *below : Rate{1, 3}};
}

Slots CompressionSubject::uneven() const { return takes({2, 5}) ? Slots{{2, 5}} : usual(); }

std::vector<CompressionSetting> CompressionSubject::settings(const Slots& slots, std::int64_t longest) const {
  std::vector<CompressionSetting> all;
  for (const auto type : types())
    for (const bool training : {false, true}) all.push_back({slots, type, training, longest});
  return all;
}

CompressionInstance CompressionSubject::make(const CompressionSetting& setting, std::uint64_t seed) const {
  auto compression = make_compression(candidate().section, setting.slots, setting.shape.heads, setting.shape.channels,
                                      length(setting.longest), candidate().find, make_generator(seed));
  move_to(*compression, candidate().device, setting.type);
  compression->train(setting.training);
  return {compression, candidate().device};
}

}  // namespace ablate
