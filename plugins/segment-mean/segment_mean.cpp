// Segment means (AdaMRA, section 3.2; Nystromformer, Xiong et al. 2021): slot j is the mean of the tokens in segment j.
#include <vector>

#include "ablate/landmarks.h"
#include "ablate/masked_softmax.h"
#include "ablate/segments.h"
#include "means.h"

namespace {

using ablate::clear_padding;
using ablate::Memory;
using ablate::Rate;
using ablate::Tensor;
using ablate::widened;
using ablate::WriteInput;

class SegmentMean final : public ablate::LandmarkCompression {
 public:
  using LandmarkCompression::LandmarkCompression;
  bool slots_are_means() const override { return true; }

 private:
  Memory do_write(const WriteInput& input) override {
    const auto &keys = input.keys, &values = input.values, &mask = input.mask;
    const auto n = keys.size(2);
    // A fixed number of slots is a rate that depends on the length of the sequence, or of each item.
    const bool fixed = slots().fixed > 0;
    const auto rate = !fixed ? slots().rate : n > slots().fixed ? ablate::reduced({slots().fixed, n}) : Rate{1, 1};
    auto memory = fixed && mask.defined() ? write_items(keys, values, mask) : write_segments(keys, values, mask, rate);
    memory.slots = ablate::existing_slots(slots(), mask);
    memory.last = ablate::segment_ends(slots(), n, keys.options());
    return memory;
  }

  Memory write_segments(const Tensor& keys, const Tensor& values, const Tensor& mask, const Rate& rate) const {
    const auto batch = keys.size(0), n = keys.size(2), count = slots().of(n);
    Memory memory;
    if (!mask.defined() && rate.numerator == 1 && n % rate.denominator == 0 && rate.slots(n) == count) {
      memory.keys = ablate::segment_mean::means(keys, rate.denominator);
      memory.values = values.is_same(keys) ? memory.keys : ablate::segment_mean::means(values, rate.denominator);
      memory.mass = ablate::full({1, 1, 1}, rate.denominator, keys.options()).expand({batch, 1, count});
      return memory;
    }
    const auto type = keys.scalar_type();
    const auto tokens = mask.defined() ? mask.to(widened(keys).scalar_type()).view({batch, 1, n, 1})
                                       : ablate::ones({1, 1, n, 1}, widened(keys).options());
    const auto counts = sums(tokens, rate);
    const auto divisor = counts.clamp_min(1);
    memory.keys = (sums(clear_padding(widened(keys), mask), rate) / divisor).to(type);
    memory.values = (sums(clear_padding(widened(values), mask), rate) / divisor).to(type);
    memory.mass = counts.squeeze(-1).expand({batch, 1, count}).to(type);
    return memory;
  }

  /// Writes a fixed number of slots m, with separate segments per item. In an item of L tokens, token p is in slot floor(p m /
  /// L), or in slot p if L < m. Multiplies by a membership matrix [m, n] per item, which is as exact as a sum and gives the
  /// same bits on every device.
  Memory write_items(const Tensor& keys, const Tensor& values, const Tensor& mask) const {
    const auto m = slots().fixed, n = keys.size(2);
    const auto position = ablate::arange(n, mask.options().dtype(ablate::kLong));
    const auto divisor = mask.sum(1, true).clamp_min(m);  // [batch, 1]
    const auto slot = (position * m).unsqueeze(0).floor_divide(divisor).masked_fill(mask.logical_not(), m);
    const auto type = keys.scalar_type();
    const auto member = (slot.unsqueeze(1) == ablate::arange(m, position.options()).unsqueeze(1))
                            .to(widened(keys).scalar_type())
                            .unsqueeze(1);  // [batch, 1, m, n]
    const auto counts = member.sum(-1);
    const auto means = [&](const Tensor& x) {
      return (member.matmul(clear_padding(widened(x), mask)) / counts.clamp_min(1).unsqueeze(-1)).to(type);
    };
    return {.keys = means(keys), .values = means(values), .mass = counts.to(type)};
  }

  /// Sums over segments: [batch, heads, n, d] -> [batch, heads, slots().of(n), d].
  Tensor sums(const Tensor& x, const Rate& rate) const {
    const auto n = x.size(2), count = slots().of(n);
    if (rate == Rate{1, 1}) return n < count ? ablate::pad(x, {0, 0, 0, count - n}) : x;
    // Segment borders repeat every `denominator` tokens, so one cut serves all periods. Every step splits or sums whole axes.
    // Unlike a scatter, this gives the same bits on every device and a backward pass with a single copy.
    const bool periodic = rate.denominator <= n;
    const auto period = periodic ? rate.denominator : n;
    const auto pieces = periodic ? rate.numerator : count;
    const auto padding = (period - n % period) % period;
    const auto periods = (padding > 0 ? ablate::pad(x, {0, 0, 0, padding}) : x).unflatten(2, {-1, period});
    if (pieces == 1) return periods.sum(3);
    std::vector<std::int64_t> sizes;
    for (std::int64_t j = 0, begin = 0; j < pieces; ++j) {
      const auto end = std::min(period, ((j + 1) * rate.denominator + rate.numerator - 1) / rate.numerator);
      sizes.push_back(end - begin);
      begin = end;
    }
    std::vector<Tensor> parts;
    for (const auto& part : periods.split_with_sizes(sizes, 3)) parts.push_back(part.sum(3));
    return ablate::stack(parts, 3).flatten(2, 3).narrow(2, 0, count);
  }
};

}  // namespace

ABLATE_COMPRESSION(SegmentMean, {.id = "segment-mean",
                                 .version = "1.1.0",
                                 .summary = "the mean of each segment of neighbouring tokens",
                                 .paper = "AdaMRA, section 3.2; Xiong et al. 2021, arXiv 2102.03902",
                                 .capabilities = {.slots_have_keys = true,
                                                  .averages = true,
                                                  .lossless_at_rate_1 = true,
                                                  .causal_reads = true,
                                                  .fixed_slots = true,
                                                  .beside_tokens = true,
                                                  .half_precision = true}})
