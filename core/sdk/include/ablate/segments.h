// Segments of neighbouring tokens, side by side: slot j represents segment j (rate.h, slot_of).
#pragma once

#include <limits>

#include "ablate/padding.h"

namespace ablate {

/// Returns Memory::last, [slots] int64: position of each segment's last token, even one beyond the sequence. With a fixed
/// number of slots, segments depend on an item's length. Then no position completes a slot: every entry is the largest int64.
inline Tensor segment_ends(const Slots& slots, std::int64_t length, const TensorOptions& like) {
  const auto options = like.dtype(kLong).requires_grad(false);
  if (slots.fixed > 0) return full({slots.fixed}, std::numeric_limits<std::int64_t>::max(), options);
  const auto& rate = slots.rate;
  const auto next = arange(rate.slots(length), options) + 1;
  return (next * rate.denominator + (rate.numerator - 1)).floor_divide(rate.numerator) - 1;
}

/// Positions of the tokens of each segment. At a rate, all items are cut alike. A fixed number m puts token p of an
/// item of L tokens into slot floor(p m / L), or into slot p if there are fewer tokens than slots.
class Segments {
 public:
  /// @param mask [batch, length] bool; undefined: no padding
  /// @param like options with the device
  Segments(const Slots& slots, std::int64_t length, const Tensor& mask, const TensorOptions& like) {
    const auto options = like.dtype(kLong).requires_grad(false);
    const auto count = slots.of(length);
    auto steps = full({1, 1}, slots.rate.numerator, options), periods = full({1, 1}, slots.rate.denominator, options);
    width_ = (slots.rate.denominator + slots.rate.numerator - 1) / slots.rate.numerator;
    if (slots.fixed > 0) {
      const auto own = mask.defined() ? mask.sum(1, true) : full({1, 1}, length, options);  // [batch or 1, 1]
      steps = full({1, 1}, slots.fixed, options);
      periods = own.clamp_min(slots.fixed);
      width_ = std::max<std::int64_t>(1, (length + slots.fixed - 1) / slots.fixed);
    }
    // Segment j begins with the first p for which floor(p steps / period) = j.
    const auto begins = [&](const Tensor& j) { return (j * periods + (steps - 1)).floor_divide(steps); };
    const auto slot = arange(count, options).unsqueeze(0);
    const auto place = begins(slot).unsqueeze(-1) + arange(width_, options);  // [batch or 1, slots, width]
    there_ = (place < begins(slot + 1).unsqueeze(-1)).logical_and(place < length);
    index_ = place.clamp_max(std::max<std::int64_t>(0, length - 1));
    if (mask.defined()) {
      const auto each = [&](const Tensor& x) { return x.expand({mask.size(0), -1, -1}); };
      there_ = each(there_).logical_and(mask.gather(1, each(index_).flatten(1)).view({mask.size(0), count, width_}));
    }
  }

  std::int64_t width() const { return width_; }  ///< tokens of the longest segment
  /// [batch or 1, 1, slots, width] bool: true if there is a token.
  Tensor there() const { return there_.unsqueeze(1); }
  /// [batch or 1, 1, slots] int64: number of tokens.
  Tensor tokens() const { return there().sum(-1); }
  /// Returns the tokens of x by segment, 0 if there is no token. Padding has no gradient, and its NaNs are left out.
  /// @param x [batch, heads, length, d]
  /// @return [batch, heads, slots, width, d]
  Tensor of(const Tensor& x) const {
    const auto b = x.size(0), h = x.size(1), d = x.size(3), count = index_.size(1);
    const auto index = index_.expand({b, -1, -1}).reshape({b, 1, count * width_, 1}).expand({-1, h, -1, d});
    return x.gather(2, index).view({b, h, count, width_, d}).masked_fill(there().logical_not().unsqueeze(-1), 0);
  }

 private:
  std::int64_t width_;
  Tensor index_, there_;  ///< [batch or 1, slots, width]
};

}  // namespace ablate
