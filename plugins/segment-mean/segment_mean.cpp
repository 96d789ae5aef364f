// Segment means (AdaMRA, section 3.2; Nystromformer, Xiong et al. 2021): slot j is the mean of the tokens in segment j.
#include <ATen/ops/constant_pad_nd.h>

#include <vector>

#include "ablate/landmarks.h"
#include "ablate/padding.h"
#include "means.h"

namespace {

using ablate::clear_padding;
using ablate::existing_slots;
using ablate::Memory;
using torch::Tensor;

class SegmentMean : public ablate::LandmarkCompression {
 public:
  explicit SegmentMean(const ablate::CompressionContext& context) : rate_(context.rate) {}

  Memory write(const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    const auto batch = keys.size(0), n = keys.size(2), slots = rate_.slots(n);
    Memory memory;
    memory.slots = existing_slots(rate_, mask);
    if (!mask.defined() && rate_.numerator == 1 && n % rate_.denominator == 0) {
      memory.keys = ablate::segment_mean::means(keys, rate_.denominator);
      memory.values = ablate::segment_mean::means(values, rate_.denominator);
      memory.mass = torch::full({1, 1, 1}, rate_.denominator, keys.options()).expand({batch, 1, slots});
      return memory;
    }
    // Sums of a segment outgrow float16 long before its mean does.
    const auto type = keys.scalar_type();
    if (c10::isReducedFloatingType(type)) {
      memory = write(keys.to(torch::kFloat), values.to(torch::kFloat), mask);
      for (auto* part : {&memory.keys, &memory.values, &memory.mass}) *part = part->to(type);
      return memory;
    }
    const auto tokens =
        mask.defined() ? mask.to(keys.scalar_type()).view({batch, 1, n, 1}) : torch::ones({1, 1, n, 1}, keys.options());
    const auto counts = sums(tokens);
    const auto divisor = counts.clamp_min(1);
    memory.keys = sums(clear_padding(keys, mask)) / divisor;
    memory.values = sums(clear_padding(values, mask)) / divisor;
    memory.mass = counts.squeeze(-1).expand({batch, 1, slots});
    return memory;
  }

 private:
  /// Sums over segments: [batch, heads, n, d] -> [batch, heads, rate.slots(n), d].
  Tensor sums(const Tensor& x) const {
    const auto n = x.size(2), slots = rate_.slots(n);
    if (rate_ == ablate::Rate{1, 1}) return x;
    // Segment borders repeat every `denominator` tokens, so that a period is cut once for all periods. Every step is a split
    // or a sum over whole axes: unlike a scatter it gives the same bits on every device and a backward pass of one copy.
    const bool periodic = rate_.denominator <= n;
    const auto period = periodic ? rate_.denominator : n;
    const auto pieces = periodic ? rate_.numerator : slots;
    const auto padding = (period - n % period) % period;
    const auto periods = (padding > 0 ? at::constant_pad_nd(x, {0, 0, 0, padding}) : x).unflatten(2, {-1, period});
    if (pieces == 1) return periods.sum(3);
    std::vector<std::int64_t> sizes;
    for (std::int64_t j = 0, begin = 0; j < pieces; ++j) {
      const auto end = std::min(period, ((j + 1) * rate_.denominator + rate_.numerator - 1) / rate_.numerator);
      sizes.push_back(end - begin);
      begin = end;
    }
    std::vector<Tensor> parts;
    for (const auto& part : periods.split_with_sizes(sizes, 3)) parts.push_back(part.sum(3));
    return torch::stack(parts, 3).flatten(2, 3).narrow(2, 0, slots);
  }

  ablate::Rate rate_;
};

}  // namespace

ABLATE_COMPRESSION(SegmentMean,
                   {.id = "segment-mean",
                    .version = "1.0.0",
                    .summary = "the mean of each segment of neighbouring tokens",
                    .paper = "AdaMRA, section 3.2; Xiong et al. 2021, arXiv 2102.03902",
                    .capabilities = {
                        .slots_have_keys = true, .averages = true, .lossless_at_rate_1 = true, .half_precision = true}})
