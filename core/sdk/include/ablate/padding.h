// Padding in compressions: tokens that do not count, and slots that exist for an item.
#pragma once

#include "ablate/rate.h"
#include "ablate/tensor.h"

namespace ablate {

/// Returns x with 0 in place of padding, even if the padding is NaN. Gradients of padding are 0 too. x itself is not changed.
/// @param x [batch, heads, length, channels]
/// @param mask [batch, length] bool, true = a token; undefined: x itself is returned.
inline Tensor clear_padding(const Tensor& x, const Tensor& mask) {
  // masked_fill, because NaN times 0 is NaN.
  return mask.defined() ? x.masked_fill(mask.logical_not().unsqueeze(1).unsqueeze(-1), 0) : x;
}

/// Returns Memory::slots (compression.h): [batch, 1, slots.of(length)] bool, true if slot j < slots.of(tokens of the item).
/// @param mask [batch, length] bool. The result is undefined if the mask is undefined or the number of slots is fixed.
inline Tensor existing_slots(const Slots& slots, const Tensor& mask) {
  if (!mask.defined() || slots.fixed > 0) return {};
  const auto& rate = slots.rate;
  const auto count = (mask.sum(-1) * rate.numerator + (rate.denominator - 1)).floor_divide(rate.denominator);
  return arange(rate.slots(mask.size(1)), count.options()) < count.view({-1, 1, 1});
}

}  // namespace ablate
