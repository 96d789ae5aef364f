// Adaptive attention span (Sukhbaatar et al. 2019): each head learns how far back it attends, by a soft mask over distances
// and a penalty on its span. Each block of queries is scored against the keys within the longest span. README.md lists the
// differences from the paper.
#include <cmath>

#include "ablate/blocks.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

constexpr ablate::Exemption exemptions[] = {
    {"trained", "shared_positions", "a distance beyond the spans of all heads gets no gradient yet (section 2.2)", 1},
};

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("span", "256", {1, 65536}, "S, the longest span, and the memory of earlier segments", "tokens"),
    ablate::integer("ramp", "32", {1, 65536}, "R: tokens after a span over which the mask falls from 1 to 0", "tokens"),
    ablate::integer("initial_span", "0", {0, 65536}, "initial span of each head; half a token is added to it", "tokens"),
    ablate::real("penalty", "2e-6", {0, 1000}, "lambda: loss per token of the mean span over heads; 0: none"),
};

constexpr std::int64_t kLeastBlock = 32;  // queries of a block; smaller blocks would not make the products faster
constexpr double kLeastMask = 1e-30;      // lower bound of the mask, so that its logarithm is finite in float32

/// Shifts row i left by i columns. Before, a column is a key; afterwards, a column is a distance.
/// [..., rows, width + rows] -> [..., rows, width]
Tensor by_distance(const Tensor& x, std::int64_t width) {
  const auto rows = x.size(-2), columns = x.size(-1);
  return ablate::pad(x.flatten(-2), {0, rows}).unflatten(-1, {rows, columns + 1}).narrow(-1, 0, width);
}
/// Inverse of by_distance, 0 elsewhere: [..., rows, width] -> [..., rows, width + rows].
Tensor by_key(const Tensor& x) {
  const auto rows = x.size(-2), columns = x.size(-1) + rows;
  return ablate::pad(x, {0, rows + 1}).flatten(-2).narrow(-1, 0, rows * columns).unflatten(-1, {rows, columns});
}

class AdaptiveSpan final : public ablate::HeadwiseAttention {
 public:
  explicit AdaptiveSpan(const ablate::AttentionContext& context)
      : HeadwiseAttention(context,
                          {.heads = context.parameters.integer("heads"), .memory = context.parameters.integer("span")}),
        limit_(context.parameters.integer("span")),
        ramp_(context.parameters.integer("ramp")),
        layer_(context.layer),
        penalty_(context.parameters.real("penalty")) {
    const auto initial = context.parameters.integer("initial_span");
    if (initial > limit_)
      throw std::invalid_argument("initial_span = " + std::to_string(initial) +
                                  " is longer than span = " + std::to_string(limit_));
    // Half a token is added, because at whole numbers, above all at 0, the mask has kinks without a unique gradient.
    const auto share = (static_cast<double>(initial) + 0.5) / static_cast<double>(limit_);
    spans_ = register_parameter("spans", ablate::full({heads()}, share), {.decay = false});
    // Without a memory, no key is farther away than max_length - 1.
    const auto farthest = context.carries ? limit_ : std::min(limit_, std::max<std::int64_t>(1, context.max_length - 1));
    positions_ = context.parts.shared("positions", [&] { return ablate::randn({farthest, d_head()}, context.generator); });
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("adaptive-span: queries and context have to be one sequence");
    const auto z = spans();
    const auto n = input.q.size(2), reach = reach_of(z, input.offset + n - 1);
    const auto offset = std::min(input.offset, reach), unseen = input.offset - offset;
    const auto size = std::min(std::max(reach, kLeastBlock), n), before = (reach + size - 1) / size;
    const ablate::Neighbours blocks{.size = size, .before = before, .behind = 0, .offset = offset};
    // Selects the keys of a block, beginning with the farthest key that the block's first query reaches.
    const auto near = [&](const Tensor& x, std::int64_t dim) { return x.narrow(dim, before * size - reach, reach + size); };
    const auto keys_of = [&](const Tensor& x) {
      return near(blocks.keys(ablate::widened(x.narrow(2, unseen, offset + n))), 3);
    };
    const auto there = ablate::mask_or_all(input.mask, input.k.size(2), input.k).narrow(1, unseen, offset + n);
    const auto present = near(blocks.present(there), 4).expand({-1, -1, -1, size, -1});

    const auto q = blocks.queries(ablate::widened(input.q)) * (1 / std::sqrt(static_cast<double>(d_head())));
    const auto positions = ablate::widened(positions_.narrow(0, positions_.size(0) - reach, reach));
    // Multiplies two matrices, because torch's method for more dimensions depends on strides and on the need for gradients.
    const auto along = q.flatten(0, 3).matmul(positions.t()).view({q.size(0), q.size(1), -1, size, reach});
    const auto scores = by_distance(q.matmul(keys_of(input.k).transpose(-1, -2)), reach) + along;
    const auto mask = soft_mask(z, reach);
    const auto hidden = by_distance(present, reach).logical_not().logical_or(mask <= 0);
    auto weights = ablate::masked_softmax(scores + mask.clamp_min(kLeastMask).log(), hidden);
    weights = ablate::drop(weights, dropout(), input.generator);
    const auto read = by_key(weights).matmul(keys_of(input.v));

    HeadOutput output{.values = ablate::Neighbours::joined(read, n).to(input.q.scalar_type())};
    if (is_training() && penalty_ > 0) output.auxiliary_loss = z.mean() * penalty_;
    if (input.measure) measure(z.detach(), output);
    return output;
  }

  void measure(const Tensor& z, HeadOutput& output) const {
    output.metrics = {{"mean_span", z.mean().item().toDouble(), "tokens"},
                      {"longest_span", z.max().item().toDouble(), "tokens"},
                      // Sum of the mask over all distances: a token on the ramp counts in part.
                      {"effective_window", soft_mask(z, limit_).sum(-1).mean().item().toDouble(), "tokens"}};
    for (std::int64_t h = 0; h < heads(); ++h)
      output.metrics.push_back(
          {"span_layer_" + std::to_string(layer_ + 1) + "_head_" + std::to_string(h + 1), z[h].item().toDouble(), "tokens"});
  }

  /// z of each head, in tokens: [heads]. The sign of a parameter is ignored.
  Tensor spans() const { return ablate::widened(spans_).abs() * static_cast<double>(limit_); }

  /// Returns the largest distance, at least 1, at which some head's mask is above 0. No key is farther away than `farthest`.
  std::int64_t reach_of(const Tensor& z, std::int64_t farthest) const {
    const auto longest = std::min(static_cast<double>(limit_), z.detach().max().item().toDouble());
    const auto reach = static_cast<std::int64_t>(std::ceil(longest + static_cast<double>(ramp_))) - 1;
    return std::max<std::int64_t>(1, std::min({reach, limit_, farthest}));
  }

  /// Returns the mask m_z at the distances reach, ..., 1: [heads, 1, 1, reach].
  Tensor soft_mask(const Tensor& z, std::int64_t reach) const {
    const auto distance = reach - ablate::arange(reach, z.options().requires_grad(false));
    return ((z.view({-1, 1, 1, 1}) - distance) / static_cast<double>(ramp_) + 1).clamp(0, 1);
  }

  std::int64_t limit_, ramp_, layer_;
  double penalty_;
  Tensor spans_;      ///< [heads], as a share of the parameter `span`
  Tensor positions_;  ///< [distances, d_head], shared by all heads and layers; the last row is distance 1
};

}  // namespace

ABLATE_ATTENTION(AdaptiveSpan, {.id = "adaptive-span",
                                .version = "1.0.0",
                                .summary = "each head learns how far back it attends, under a penalty on long spans",
                                .paper = "Sukhbaatar et al. 2019, arXiv 1905.07799, section 2",
                                .capabilities = {.causal = true,
                                                 .key_padding = true,
                                                 .stateful = true,
                                                 .bidirectional = false,
                                                 .weight_dropout = true,
                                                 .sparse = true,
                                                 .half_precision = true},
                                .parameters = parameters,
                                .exemptions = exemptions})
