// Gated pooling (DeepSeek-V4's compressor, 2026): slot j is, per channel, a weighted mean of the tokens in segment j. The
// weights are a softmax over learned gates of the tokens and of their positions in the segment.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "ablate/landmarks.h"
#include "ablate/segments.h"

namespace {

using ablate::Memory;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::boolean(
        "overlap", "false",
        "a slot also includes the tokens of the segment before, with separate gates (CSA); otherwise only its own (HCA)"),
};

/// With overlap a slot mixes in tokens of the segment before, so even a rate of 1 is not lossless.
ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto can = declared;
  can.lossless_at_rate_1 = !values.boolean("overlap");
  return can;
}

/// Z = W x + B, for token x at its position in the segment.
struct Gates {
  Tensor weight;  ///< [heads, d_head, d_head]
  Tensor bias;    ///< [heads, places, d_head]

  /// @param tokens [batch, heads, slots, width, d_head]
  /// @return the same shape
  Tensor of(const Tensor& tokens) const {
    const auto w = weight.to(tokens.scalar_type()).transpose(-1, -2);
    const auto b = bias.to(tokens.scalar_type()).narrow(1, 0, tokens.size(3)).unsqueeze(1);
    return tokens.flatten(2, 3).matmul(w).unflatten(2, {tokens.size(2), tokens.size(3)}) + b;
  }
};

/// Returns for each segment of x [batch or 1, heads or 1, slots, ...] the segment before it, zeros for the first.
Tensor segment_before(const Tensor& x) {
  std::vector<std::int64_t> front(2 * static_cast<std::size_t>(x.dim() - 2), 0);
  front[front.size() - 2] = 1;
  return ablate::pad(x, front).narrow(2, 0, x.size(2));
}

class GatedPool final : public ablate::LandmarkCompression {
 public:
  explicit GatedPool(const ablate::CompressionContext& context)
      : LandmarkCompression(context), overlap_(context.parameters.boolean("overlap")) {
    const double bound = 1 / std::sqrt(static_cast<double>(context.d_head));
    const auto steps = slots().fixed > 0 ? slots().fixed : slots().rate.numerator;
    const auto tokens = slots().fixed > 0 ? context.max_length : slots().rate.denominator;
    const auto places = std::max<std::int64_t>(1, (tokens + steps - 1) / steps);  // in the longest segment
    const auto gates = [&](const std::string& before) {
      const auto weight = ablate::empty({context.heads, context.d_head, context.d_head});
      return Gates{register_parameter(before + "weight", weight.uniform_(-bound, bound, context.generator)),
                   register_parameter(before + "bias", ablate::zeros({context.heads, places, context.d_head}))};
    };
    own_ = gates("");
    if (overlap_) before_ = gates("before_");
  }

 private:
  Memory do_write(const ablate::WriteInput& input) override {
    const auto n = input.keys.size(2);
    if (input.keys.size(1) != own_.weight.size(0) || input.keys.size(3) != own_.weight.size(1))
      throw std::invalid_argument("gated-pool was made for " + std::to_string(own_.weight.size(0)) + " heads of " +
                                  std::to_string(own_.weight.size(1)) + " channels, and was given " +
                                  std::to_string(input.keys.size(1)) + " of " + std::to_string(input.keys.size(3)));
    const ablate::Segments segments(slots(), n, input.mask, input.keys.options());
    const auto tokens = segments.tokens(), there = segments.there();
    const auto seen = overlap_ ? ablate::cat({segment_before(there), there}, 3) : there;
    // In a slot without tokens no position is hidden, because a softmax over nothing is NaN. The slot is set to 0 below.
    const auto hidden = seen.logical_not().logical_and((tokens > 0).unsqueeze(-1)).unsqueeze(-1);
    const auto pooled = [&](const Tensor& x) {
      auto all = ablate::widened(segments.of(x)), gates = own_.of(all);
      if (overlap_) {
        const auto before = segment_before(all);
        gates = ablate::cat({before_.of(before), gates}, 3);
        all = ablate::cat({before, all}, 3);
      }
      const auto weights = gates.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(3);
      return (weights * all).sum(3).masked_fill((tokens == 0).unsqueeze(-1), 0).to(x.scalar_type());
    };
    return {.keys = pooled(input.keys),
            .values = pooled(input.values),
            .mass = tokens.expand({input.keys.size(0), -1, -1}).to(input.keys.scalar_type()),
            .slots = ablate::existing_slots(slots(), input.mask),
            .last = ablate::segment_ends(slots(), n, input.keys.options())};
  }

  bool overlap_;
  Gates own_, before_;  ///< before_: gates for the segment before; only with overlap
};

}  // namespace

ABLATE_COMPRESSION(GatedPool, {.id = "gated-pool",
                               .version = "1.0.0",
                               .summary = "a mean of each segment's tokens, weighed channel by channel by learned gates",
                               .paper = "DeepSeek-V4, 2026, Towards Highly Efficient Million-Token Context Intelligence, 2.3",
                               .capabilities = {.slots_have_keys = true,
                                                .averages = true,
                                                .lossless_at_rate_1 = true,
                                                .causal_reads = true,
                                                .fixed_slots = true,
                                                .beside_tokens = true,
                                                .half_precision = true},
                               .parameters = parameters,
                               .promises = promises})
