// The tokens with the most attention (Compressive Transformer, Rae et al. 2020). They stay unchanged and in order, and the
// other tokens are dropped.
#include "ablate/landmarks.h"
#include "ablate/padding.h"

namespace {

using ablate::Memory;
using ablate::Tensor;
using ablate::WriteInput;

class MostUsed final : public ablate::LandmarkCompression {
 public:
  using LandmarkCompression::LandmarkCompression;

 private:
  Memory do_write(const WriteInput& input) override {
    const auto &keys = input.keys, &mask = input.mask;
    const auto n = keys.size(2), count = slots().of(n), taken = std::min(count, n);
    const auto place = chosen(input, taken);  // [batch, heads, taken], n if the item has no more tokens
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

  /// Returns the attention that each token gets, summed over its readers: [batch, heads, n]. The readers are the queries or, if
  /// there are none, the tokens themselves.
  static Tensor attention_to(const WriteInput& input) {
    const bool has_queries = input.queries.defined();
    const auto& readers = has_queries ? input.queries : input.keys;
    const auto& mask = has_queries ? input.query_mask : input.mask;
    const auto keys = ablate::clear_padding(input.keys, input.mask);
    const Memory tokens{
        .keys = keys,
        .mass = input.mask.defined() ? input.mask.unsqueeze(1) : ablate::ones({1, 1, keys.size(2)}, keys.options())};
    return looks({.queries = ablate::clear_padding(readers, mask), .memory = tokens, .query_mask = mask});
  }

  /// Returns the positions of each item's most used tokens, in rising order.
  Tensor chosen(const WriteInput& input, std::int64_t taken) const {
    const ablate::NoGradGuard no_grad;
    const auto &keys = input.keys, &mask = input.mask;
    const auto n = keys.size(2);
    auto usage = input.usage.defined() ? input.usage.expand({-1, keys.size(1), -1}) : attention_to(input);
    if (mask.defined()) usage = usage.masked_fill(mask.logical_not().unsqueeze(1), -1);
    // The sort is stable: among equally used tokens, the first tokens are chosen on every device.
    auto place = usage.argsort(true, -1, true).narrow(2, 0, taken);
    if (!mask.defined()) return std::get<0>(place.sort(-1));
    const auto exists = slots().fixed > 0 ? ablate::arange(taken, place.options()) < mask.sum(1).view({-1, 1, 1})
                                          : ablate::existing_slots(slots(), mask).narrow(2, 0, taken);
    place = place.masked_fill(exists.logical_not(), n);
    return std::get<0>(place.sort(-1));
  }
};

}  // namespace

ABLATE_COMPRESSION(MostUsed, {.id = "most-used",
                              .version = "1.0.0",
                              .summary = "the tokens that were attended to most, unchanged",
                              .paper = "Rae et al. 2020, Compressive Transformer, arXiv 1911.05507, section 3.2",
                              .capabilities = {.slots_have_keys = true,
                                               .averages = true,
                                               .lossless_at_rate_1 = true,
                                               .fixed_slots = true,
                                               .beside_tokens = true,
                                               .sparse = true,
                                               .half_precision = true,
                                               .time_exponent = 2}})
