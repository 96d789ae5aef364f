// Sparse Transformer (Child et al. 2019): two patterns that together reach all tokens, each with about sqrt(n) tokens. One is
// near; the other is far: every stride-th token (strided) or the last tokens of each block (fixed). README.md defines both.
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "ablate/blocks.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"
#include "ablate/softmax_attention.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Neighbours;
using ablate::Tensor;

constexpr ablate::Oracle oracles[] = {{R"({"pattern": "fixed", "stride": 4096, "arrangement": "merged"})", "softmax"},
                                      {R"({"stride": 4096, "arrangement": "merged"})", "softmax"},
                                      {R"({"stride": 1, "arrangement": "merged"})", "softmax"}};

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("pattern", "\"strided\"", "strided|fixed", "far tokens to attend to: every stride-th token, or summaries"),
    ablate::integer("stride", "0", {0, 65536},
                    "l; 0: a row of the picture or, without a picture, the root of the longest sequence's length", "tokens"),
    ablate::when("pattern = fixed",
                 ablate::integer("summary", "8", {1, 65536},
                                 "c: tokens at the end of each block that all attend to, at most the stride", "tokens")),
    ablate::text("arrangement", "\"by-head\"", "by-head|merged|by-layer",
                 "by-head: half of the heads are near, the others far; merged: one softmax over both; by-layer: near and far "
                 "layers alternate"),
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  // A far head of the fixed pattern reads nothing if its query sees no summary, as in a short sequence.
  result.averages = values.text("pattern") == "strided" || values.text("arrangement") == "merged";
  result.time_exponent = result.memory_exponent = values.integer("stride") > 0 ? 2 : 1.5;
  return result;
}

class SparseAttention final : public ablate::HeadwiseAttention {
 public:
  explicit SparseAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        fixed_(context.parameters.text("pattern") == "fixed"),
        merged_(context.parameters.text("arrangement") == "merged"),
        stride_(context.parameters.integer("stride")),
        far_(heads() / 2) {
    const auto& picture = context.geometry;
    if (stride_ == 0 && picture.rows > 0) stride_ = picture.columns * picture.channels;
    if (stride_ == 0) stride_ = std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(context.max_length))));
    summary_ = std::min(context.parameters.integer("summary"), stride_);
    if (context.parameters.text("arrangement") == "by-layer") far_ = context.layer % 2 == 0 ? 0 : heads();
    if (context.parameters.text("arrangement") == "by-head" && heads() == 1)
      throw std::invalid_argument("heads = 1 cannot be near and far: set arrangement to merged or by-layer, or more heads");
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("sparse: queries and context have to be one sequence");
    const auto n = input.q.size(2);
    const auto mask = ablate::mask_or_all(input.mask, n, input.k);
    if (merged_) return {.values = fixed_ ? merged_fixed(input, mask) : merged_strided(input, mask)};
    const auto of_heads = [&](std::int64_t first, std::int64_t count) {
      HeadInput part = input;
      for (auto* x : {&part.q, &part.k, &part.v}) *x = x->narrow(1, first, count);
      return part;
    };
    std::vector<Tensor> parts;
    const auto near_heads = heads() - far_;
    if (near_heads > 0) parts.push_back(near(of_heads(0, near_heads), mask));
    if (far_ > 0) {
      const auto part = of_heads(near_heads, far_);
      parts.push_back(fixed_ ? to_summaries(part, mask) : by_stride(part, mask));
    }
    return {.values = parts.size() == 1 ? parts.front() : ablate::cat(parts, 1)};
  }

  /// A^(1): `stride` tokens before (unless causal, also after) the query; if fixed_, its block. A short sequence is one block.
  Neighbours near_blocks(std::int64_t n) const {
    const bool alone = fixed_ || n <= stride_;
    return {.size = std::min(stride_, n), .before = alone ? 0 : 1, .behind = alone || causal() ? 0 : 1};
  }
  Tensor near_seen(const Neighbours& blocks, const Tensor& mask) const {
    const auto distance = blocks.distance(mask.device());
    const auto seen = blocks.present(mask).logical_and(distance >= -stride_).logical_and(distance <= stride_);
    return causal() ? seen.logical_and(distance <= 0) : seen;
  }
  Tensor near(const HeadInput& part, const Tensor& mask) const {
    const auto blocks = near_blocks(part.q.size(2));
    const auto read = ablate::attend_blocks(blocks.queries(part.q), blocks.keys(part.k), blocks.keys(part.v),
                                            near_seen(blocks, mask), dropout(), part.generator);
    return blocks.joined(read, part.q.size(2));
  }

  /// A^(2), strided: tokens whose positions have the same remainder modulo the stride form a separate sequence.
  Tensor by_stride(const HeadInput& part, const Tensor& mask) const {
    const auto step = std::min(stride_, part.q.size(2));
    const auto q = ablate::apart(part.q, step), k = ablate::apart(part.k, step), v = ablate::apart(part.v, step);
    const auto read = among(part, q, k, v, ablate::mask_apart(mask.expand({part.q.size(0), -1}), step));
    return ablate::together(read, step, part.q.size(2));
  }

  /// Softmax attention of sequences to themselves. The mask is [batch, n].
  Tensor among(const HeadInput& part, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) const {
    if (!causal()) return ablate::attend_seen(q, k, v, mask.unsqueeze(1).unsqueeze(1), dropout(), part.generator);
    // Padding is at the end, so causal queries do not attend to it.
    return dropout() > 0 ? ablate::dropped_attention(q, k, v, {}, true, dropout(), part.generator)
                         : ablate::softmax_attention(q, k, v, {}, true, fused());
  }

  /// A^(2), fixed: the tokens in the summaries of all blocks. Each head has its own c tokens of a block.
  /// [batch, heads, n, d] -> [batch, heads, blocks * c, d], zeros for missing tokens
  Tensor summaries(const Tensor& x) const {
    const auto blocks = Neighbours{.size = stride_}.queries(x);
    std::vector<Tensor> of_heads;
    for (std::int64_t h = 0; h < x.size(1); ++h) {
      const auto first = stride_ - summary_ * (1 + h % (stride_ / summary_));
      of_heads.push_back(blocks.narrow(1, h, 1).narrow(3, first, summary_));
    }
    return ablate::cat(of_heads, 1).flatten(2, 3);
  }
  /// True for the summary tokens that exist: [batch or 1, heads, 1, blocks * c].
  Tensor summaries_there(const Tensor& mask, std::int64_t heads) const {
    return summaries(mask.unsqueeze(1).unsqueeze(-1).expand({-1, heads, -1, 1})).transpose(2, 3);
  }
  Tensor to_summaries(const HeadInput& part, const Tensor& mask) const {
    const auto n = part.q.size(2), count = part.q.size(1);
    auto seen = summaries_there(mask, count);
    if (causal()) {
      const auto place = ablate::arange(n, mask.options().dtype(ablate::kLong)).view({1, 1, n, 1});
      // The position of a missing token is 0, but `seen` excludes it.
      const auto summary = summaries(place.expand({1, count, n, 1})).transpose(2, 3);
      seen = seen.logical_and(summary <= place);
    }
    return ablate::attend_seen(part.q, summaries(part.k), summaries(part.v), seen, dropout(), part.generator);
  }

  /// Both sets of the fixed pattern in one softmax: the block's own tokens and the summaries of the other blocks.
  Tensor merged_fixed(const HeadInput& input, const Tensor& mask) const {
    if (input.q.size(2) <= stride_) return near(input, mask);
    const auto blocks = near_blocks(input.q.size(2));
    const auto q = blocks.queries(input.q);
    const auto count = q.size(2), items = mask.size(0);
    const auto beside = [&](const Tensor& x) {
      const auto far = summaries(x).unsqueeze(2).expand({-1, -1, count, -1, -1});
      return ablate::cat({blocks.keys(x), far}, 3);
    };
    const auto number = ablate::arange(count, mask.options().dtype(ablate::kLong));
    const auto own = number.view({1, 1, count, 1, 1}), other = number.repeat_interleave(summary_);
    const auto elsewhere = causal() ? other < own : other != own;
    const auto far = summaries_there(mask, heads()).unsqueeze(2).logical_and(elsewhere);
    const auto seen = ablate::cat({near_seen(blocks, mask).expand({items, heads(), count, stride_, -1}),
                                   far.expand({items, heads(), count, stride_, -1})},
                                  4);
    return blocks.joined(ablate::attend_blocks(q, beside(input.k), beside(input.v), seen, dropout(), input.generator),
                         input.q.size(2));
  }

  /// Both sets of the strided pattern in one softmax. Tokens of a block have different far tokens, so the far scores are
  /// computed as in by_stride(). Near tokens are masked in the far scores.
  Tensor merged_strided(const HeadInput& input, const Tensor& mask) const {
    const auto type = input.q.scalar_type();
    const auto blocks = near_blocks(input.q.size(2));
    const auto q = ablate::widened(blocks.queries(input.q)) / std::sqrt(static_cast<double>(d_head()));
    const auto by_stride = [&](const Tensor& x) { return ablate::widened(blocks.queries(x)).transpose(2, 3); };
    const auto near_scores = q.matmul(ablate::widened(blocks.keys(input.k)).transpose(-1, -2));
    const auto far_scores = q.transpose(2, 3).matmul(by_stride(input.k).transpose(-1, -2)).transpose(2, 3);

    const auto count = q.size(2), keys = near_scores.size(4);
    const auto number = ablate::arange(count, mask.options().dtype(ablate::kLong));
    const auto ahead = (number - number.unsqueeze(1)).view({1, 1, count, 1, count});
    const auto elsewhere = causal() ? ahead < -1 : ahead.abs() > 1;
    const auto there = blocks.queries(mask.unsqueeze(1).unsqueeze(-1)).squeeze(-1).transpose(2, 3).unsqueeze(2);
    const auto near = near_seen(blocks, mask), far = there.logical_and(elsewhere);
    const auto hidden =
        ablate::cat({near.expand({-1, 1, count, blocks.size, -1}), far.expand({-1, 1, count, blocks.size, -1})}, 4)
            .logical_not();
    const auto weights =
        ablate::drop(ablate::masked_softmax(ablate::cat({near_scores, far_scores}, 4), hidden), dropout(), input.generator);
    const auto from_near = weights.narrow(4, 0, keys).matmul(ablate::widened(blocks.keys(input.v)));
    const auto from_far = weights.narrow(4, keys, count).transpose(2, 3).matmul(by_stride(input.v)).transpose(2, 3);
    return blocks.joined(from_near + from_far, input.q.size(2)).to(type);
  }

  bool fixed_, merged_;
  std::int64_t stride_, summary_, far_;  // far_: number of far heads, which come last
};

}  // namespace

ABLATE_ATTENTION(SparseAttention,
                 {.id = "sparse",
                  .version = "1.0.0",
                  .summary = "near tokens, and every stride-th token or each block's last tokens, in n^1.5 time",
                  .paper = "Child et al. 2019, arXiv 1904.10509, sections 4.2 and 4.3",
                  .capabilities = {.causal = true,
                                   .key_padding = true,
                                   .rotary = true,
                                   .weight_dropout = true,
                                   .averages = true,
                                   .sparse = true,
                                   .half_precision = true,
                                   .time_exponent = 1.5,
                                   .memory_exponent = 1.5},
                  .parameters = parameters,
                  .promises = promises,
                  .oracles = oracles})
