// The tokens that were attended to most (Compressive Transformer, Rae et al. 2020): they are kept as they are, in their order,
// and the others forgotten.
#include <cmath>
#include <limits>

#include "ablate/landmarks.h"
#include "ablate/padding.h"

namespace {

using ablate::Memory;
using ablate::Tensor;
using ablate::WriteInput;

constexpr std::int64_t kRows = 256;  // queries whose weights exist at one time

/// [batch, heads, n]: the attention that each token gets of those that will read it, summed over them; where nobody is known
/// to, of the tokens themselves.
Tensor attention_to(const WriteInput& input) {
  const bool asked = input.queries.defined();
  const auto& mask = asked ? input.query_mask : input.mask;
  const auto type = input.keys.scalar_type() == ablate::kDouble ? ablate::kDouble : ablate::kFloat;
  const auto k = ablate::clear_padding(input.keys, input.mask).detach().to(type);
  const auto all = asked ? ablate::clear_padding(input.queries, mask).detach().to(type) : k;
  auto sum = ablate::zeros({k.size(0), k.size(1), k.size(2)}, k.options());
  for (std::int64_t begin = 0; begin < all.size(2); begin += kRows) {
    const auto rows = std::min(kRows, all.size(2) - begin);
    auto scores = all.narrow(2, begin, rows).matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(k.size(3)));
    if (input.mask.defined())
      scores = scores.masked_fill(input.mask.logical_not().unsqueeze(1).unsqueeze(1), std::numeric_limits<float>::lowest());
    auto weights = scores.softmax(-1);
    if (mask.defined()) weights = weights.masked_fill(mask.narrow(1, begin, rows).logical_not().unsqueeze(1).unsqueeze(-1), 0);
    sum += weights.sum(2);
  }
  return sum;
}

class MostUsed final : public ablate::LandmarkCompression {
 public:
  using LandmarkCompression::LandmarkCompression;

 private:
  Memory do_write(const WriteInput& input) override {
    const auto &keys = input.keys, &mask = input.mask;
    const auto n = keys.size(2), count = slots().of(n), taken = std::min(count, n);
    const auto place = chosen(input, taken);  // [batch, heads, taken], n where the item has no more
    const auto none = place == n;
    const auto pick = [&](const Tensor& x) {
      const auto index = place.clamp_max(n - 1).unsqueeze(-1).expand({-1, -1, -1, x.size(3)});
      const auto found = ablate::clear_padding(x, mask).gather(2, index).masked_fill(none.unsqueeze(-1), 0);
      return taken < count ? ablate::pad(found, {0, 0, 0, count - taken}) : found;
    };
    return {.keys = pick(keys),
            .values = pick(input.values),
            .mass = ablate::pad(none.logical_not().to(keys.scalar_type()), {0, count - taken}),
            .slots = ablate::existing_slots(slots(), mask)};
  }

  /// The places of each item's most used tokens, rising.
  Tensor chosen(const WriteInput& input, std::int64_t taken) const {
    const ablate::NoGradGuard no_grad;
    const auto &keys = input.keys, &mask = input.mask;
    const auto n = keys.size(2);
    auto usage = input.usage.defined() ? input.usage.expand({-1, keys.size(1), -1}) : attention_to(input);
    if (mask.defined()) usage = usage.masked_fill(mask.logical_not().unsqueeze(1), -1);
    // Of tokens used alike the first ones, on every device.
    auto place = usage.argsort(true, -1, true).narrow(2, 0, taken);
    if (!mask.defined()) return std::get<0>(place.sort(-1));
    const auto& rate = slots().rate;
    const auto length = mask.sum(1);
    const auto own =
        slots().fixed > 0 ? length : (length * rate.numerator + (rate.denominator - 1)).floor_divide(rate.denominator);
    place = place.masked_fill(ablate::arange(taken, place.options()) >= own.view({-1, 1, 1}), n);
    return std::get<0>(place.sort(-1));
  }
};

}  // namespace

ABLATE_COMPRESSION(MostUsed, {.id = "most-used",
                              .version = "1.0.0",
                              .summary = "the tokens that were attended to most, as they are",
                              .paper = "Rae et al. 2020, Compressive Transformer, arXiv 1911.05507, section 3.2",
                              .capabilities = {.slots_have_keys = true,
                                               .averages = true,
                                               .lossless_at_rate_1 = true,
                                               .fixed_slots = true,
                                               .beside_tokens = true,
                                               .sparse = true,
                                               .half_precision = true,
                                               .time_exponent = 2}})
