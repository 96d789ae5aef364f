// Sparse Sinkhorn attention (Tay et al. 2020): a learned soft permutation sorts blocks of keys to blocks of queries. README.md
// lists the differences from the paper.
#include <cmath>

#include "ablate/blocks.h"
#include "ablate/dropout.h"
#include "ablate/headwise.h"
#include "ablate/masked_softmax.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Linear;
using ablate::Neighbours;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("block", "0", {0, 65536}, "tokens of a block; 0: the root of the longest sequence's length", "tokens"),
    ablate::integer("iterations", "7", {0, 64}, "Sinkhorn iterations: columns, then rows; 0: only rows, no sorting"),
    ablate::real("temperature", "0.75", {0.1, 16}, "divisor of the blocks' scores; near 0 the sorting is hard"),
};

constexpr ablate::Exemption exemptions[] = {
    {"trained", "sort.weight", "no block follows the last block of a causal sequence, so it is sorted to none", 1},
    {"trained", "sort.bias", "no block follows the last block of a causal sequence, so it is sorted to none", 1},
};

ablate::Capabilities promises(const ablate::Capabilities& declared, const ablate::Values& values,
                              std::span<const ablate::Capabilities>) {
  auto result = declared;
  if (values.integer("block") > 0) result.time_exponent = result.memory_exponent = 2;  // all pairs of blocks
  return result;
}

constexpr double kNothing = 1e-20;  // a sorted position with less mass holds no token
constexpr double kLowest = -1e30;   // stands for log 0, but can be subtracted from itself

class Sinkhorn final : public ablate::HeadwiseAttention {
 public:
  explicit Sinkhorn(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        block_(context.parameters.integer("block")),
        iterations_(context.parameters.integer("iterations")),
        temperature_(context.parameters.real("temperature")) {
    const auto longest = context.max_length;
    if (block_ == 0) block_ = std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(longest))));
    most_ = (longest + block_ - 1) / block_;
    sort_ = register_module("sort", ablate::make_linear(context.d_model, heads() * most_, true, context.generator));
    noise_ = register_buffer("noise", ablate::zeros({heads(), most_, most_}), {.type = true});
    draw(context.generator);
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (!input.self) throw std::logic_error("sinkhorn: queries and context have to be one sequence");
    const auto n = input.q.size(2);
    const Neighbours blocks{.size = std::min(block_, n), .before = 0, .behind = 0};
    const auto wide = [&](const Tensor& x) { return blocks.queries(ablate::widened(x)); };
    const auto q = wide(input.q) / std::sqrt(static_cast<double>(d_head())), k = wide(input.k), v = wide(input.v);
    const auto there = blocks.queries(ablate::mask_or_all(input.mask, n, input.k).unsqueeze(1).unsqueeze(-1)).squeeze(-1);
    const auto order = sorted(ablate::widened(input.context), there);  // [batch, heads, blocks, blocks]

    // Each position of a sorted block is a weighted mean of tokens. Its mass is the sum of the tokens' weights. Missing tokens
    // of a ragged block have no weight.
    const auto mass = order.matmul(there.to(order.scalar_type()));  // [batch, heads, blocks, size]
    const auto mean = [&](const Tensor& x) {
      return order.matmul(x.flatten(3)).view_as(x) / mass.clamp_min(kNothing).unsqueeze(-1);
    };
    const auto own = q.matmul(k.transpose(-1, -2));
    const auto far = q.matmul(mean(k).transpose(-1, -2)) + mass.clamp_min(kNothing).log().unsqueeze(-2);
    auto near_seen = there.unsqueeze(3);
    if (causal()) near_seen = near_seen.logical_and(blocks.distance(q.device()) <= 0);
    const auto hidden = ablate::cat({near_seen.expand_as(own), (mass > kNothing).unsqueeze(3).expand_as(own)}, 4).logical_not();
    const auto weights = ablate::drop(ablate::masked_softmax(ablate::cat({own, far}, 4), hidden), dropout(), input.generator);
    const auto read = weights.matmul(ablate::cat({v, mean(v)}, 3));
    return {.values = blocks.joined(read, n).to(input.q.scalar_type())};
  }

  /// Returns the share of each block of keys in each sorted block. Rows sum to 1, or to 0 if no block is allowed.
  /// @param x [batch, n, d_model], 0 at masked tokens
  /// @param there [batch or 1, 1, blocks, size] bool
  Tensor sorted(const Tensor& x, const Tensor& there) const {
    const auto count = there.size(2), size = there.size(3);
    // A block is represented by the sum of its tokens. If causal, it is represented by the sum of all tokens up to its first
    // token. Every token of the block may use this sum.
    const auto pooled = causal() ? x.cumsum(1).slice(1, 0, x.size(1), size)
                                 : ablate::pad(x, {0, 0, 0, count * size - x.size(1)}).unflatten(1, {count, size}).sum(2);
    const auto all = ablate::linear(pooled, sort_->weight.to(x.scalar_type()), sort_->bias.to(x.scalar_type()));
    auto scores = all.unflatten(2, {heads(), most_}).narrow(3, 0, count).transpose(1, 2);
    if (is_training()) scores = scores + noise_.narrow(1, 0, count).narrow(2, 0, count).to(scores.scalar_type());
    const auto exists = there.any(3);  // [batch or 1, 1, blocks]
    auto allowed = exists.unsqueeze(2).logical_and(exists.unsqueeze(3));
    if (causal()) {
      const auto number = ablate::arange(count, there.options().dtype(ablate::kLong));
      allowed = allowed.logical_and(number < number.unsqueeze(1));  // only blocks that have ended
    }
    const auto hidden = allowed.logical_not();
    const auto only = [&](const Tensor& of) { return of.masked_fill(hidden, kLowest); };
    auto logs = only(scores / temperature_);
    const auto rows = [&] { logs = only(logs - logs.logsumexp(3, true)); };
    rows();
    for (std::int64_t i = 0; i < iterations_; ++i) {
      // If causal, a column's sum includes only the rows up to the current row (section 3.3.2).
      logs = only(logs - (causal() ? logs.logcumsumexp(2) : logs.logsumexp(2, true)));
      rows();
    }
    return logs.exp();
  }

  /// Draws Gumbel noise. The lower the temperature, the closer the result is to a random permutation.
  void draw(const ablate::Generator& generator) {
    const ablate::NoGradGuard none;
    noise_.uniform_(1e-10, 1, generator);
    noise_.copy_(-(-noise_.log()).clamp_min(1e-10).log());
  }
  void do_step(std::int64_t, const ablate::Generator& generator) override {
    if (is_training()) draw(generator);
  }

  std::int64_t block_, iterations_, most_ = 0;
  double temperature_;
  std::shared_ptr<Linear> sort_;  // from a block to its scores with all blocks, head by head
  Tensor noise_;                  // [heads, blocks, blocks], noise of this training step
};

}  // namespace

ABLATE_ATTENTION(Sinkhorn, {.id = "sinkhorn",
                            .version = "1.0.0",
                            .summary = "blocks attend to themselves and to a block sorted to them by a learned permutation",
                            .paper = "Tay et al. 2020, arXiv 2002.11296, section 3",
                            .capabilities = {.causal = true,
                                             .key_padding = true,
                                             .holes = true,
                                             .weight_dropout = true,
                                             .averages = true,
                                             .sparse = true,
                                             .half_precision = true,
                                             .time_exponent = 1.5,
                                             .memory_exponent = 1.5},
                            .parameters = parameters,
                            .promises = promises,
                            .exemptions = exemptions})
