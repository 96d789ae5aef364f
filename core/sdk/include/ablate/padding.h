// What padding means to a compression: which tokens are none, and which slots an item therefore has.
#pragma once

#include "ablate/rate.h"
#include "ablate/tensor.h"

namespace ablate {

/// Zeros under the mask, whatever stood there; gradients there are 0 too. x is not changed. @param x [batch, heads, length,
/// channels]
/// @param mask [batch, length] bool, true = a token; undefined: x itself is returned.
inline Tensor clear_padding(const Tensor& x, const Tensor& mask) {
  // Filling, not multiplying: NaN times 0 is NaN.
  return mask.defined() ? x.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), 0) : x;
}

/// [batch, 1, slots.of(length)] bool, true where slot j < slots.of(tokens of the item): Memory::slots (compression.h).
/// @param mask [batch, length] bool; undefined, or a fixed number of slots: the result is undefined. On the mask's device.
inline Tensor existing_slots(const Slots& slots, const Tensor& mask) {
  if (!mask.defined() || slots.fixed > 0) return {};
  const auto& rate = slots.rate;
  const auto count = (mask.sum(-1) * rate.numerator + (rate.denominator - 1)).floor_divide(rate.denominator);
  return arange(rate.slots(mask.size(1)), count.options()) < count.view({-1, 1, 1});
}

/// Which of m segments each token of an item lies in: of L tokens token p lies in segment floor(p m / L), in segment p where
/// there are fewer tokens than segments; a padded one in none. So what segments hold follows the item, however far it is
/// padded.
/// @param mask [batch, n] bool, padding only at the end @return [batch, m, n] bool, on the mask's device
inline Tensor item_segments(const Tensor& mask, std::int64_t m) {
  const auto position = arange(mask.size(1), mask.options().dtype(kLong));
  const auto divisor = mask.sum(1, true).clamp_min(m);  // [batch, 1]
  const auto segment = (position * m).unsqueeze(0).floor_divide(divisor).masked_fill(mask.logical_not(), m);
  return segment.unsqueeze(1) == arange(m, position.options()).unsqueeze(1);
}

}  // namespace ablate
