// Read of memories whose slots are landmarks: mean key, mean value and number of the tokens that a slot represents.
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>

#include "ablate/compression.h"
#include "ablate/kernel_attention.h"
#include "ablate/masked_softmax.h"
#include "ablate/softmax_attention.h"

namespace ablate {

/// Base of compressions with landmarks. Derived classes need only implement do_write(). The memory that do_write() returns has
/// keys, values and mass, and also last if the method promises causal_reads.
///
/// A landmark has the weight of all its tokens: weights(q)_j = mass_j sim(q, key_j). With equal segments the mass cancels, and
/// this is AdaMRA's Eq. 7. With a ragged last segment, it equals attention over the tokens if a segment's tokens are all alike.
class LandmarkCompression : public Compression {
 public:
  using Compression::Compression;

 protected:
  /// Usage of each slot, [batch, heads, slots]. Computed for some queries at a time: linear memory, quadratic time.
  static Tensor looks(const ReadInput& input) {
    constexpr std::int64_t rows = 256;
    const NoGradGuard no_grad;
    const auto& memory = input.memory;
    const auto k = widened(memory.keys), mass = memory.mass.to(k.scalar_type()).unsqueeze(2);  // [batch, heads or 1, 1, slots]
    const bool softmax = input.similarity == Similarity::kSoftmax;
    const auto map = input.similarity == Similarity::kRelu ? FeatureMap::kRelu : FeatureMap::kElu;
    auto usage = zeros({k.size(0), k.size(1), k.size(2)}, k.options());
    for (std::int64_t begin = 0; begin < input.queries.size(2); begin += rows) {
      const auto q = input.queries.narrow(2, begin, std::min(rows, input.queries.size(2) - begin)).to(k.scalar_type());
      auto gone = mass <= 0;
      if (input.causal) {
        const auto complete = complete_slots(input).narrow(0, begin, q.size(2)).unsqueeze(1);
        gone = gone.logical_or(arange(k.size(2), complete.options()) >= complete);
      }
      auto weights = softmax ? q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(k.size(3)))
                             : kernel_features(q, map).matmul(kernel_features(k, map).transpose(-1, -2));
      if (softmax) weights = (weights - weights.masked_fill(gone, std::numeric_limits<float>::lowest()).amax(-1, true)).exp();
      weights = (weights * mass).masked_fill(gone, 0);
      const auto total = weights.sum(-1, true);
      auto share = weights / total.masked_fill(total <= 0, std::numeric_limits<double>::infinity());
      if (input.query_mask.defined())
        share = share.masked_fill(input.query_mask.narrow(1, begin, q.size(2)).logical_not().unsqueeze(1).unsqueeze(-1), 0);
      usage += share.sum(2);
    }
    return usage;
  }

 private:
  /// Reads landmarks and saves no state. Memory: keys [batch, heads, slots, d_key], values [batch, heads, slots, d_value], mass
  /// [batch, heads or 1, slots] of the values' type. If all slots have equally many tokens, mass is one expanded number above
  /// 0. A query whose weights sum to 0 reads 0. Kernel reads take O((n + slots) d_key d_value) time, without an [n, slots]
  /// matrix. If causal, they store a sum [d_key, d_value + 1] for each slot and query: d_value + 1 times the queries' memory.
  ReadOutput do_read(const ReadInput& input) final {
    if (!input.memory.mass.defined()) throw std::logic_error("a memory of landmarks has a mass, and do_write() defined none");
    return {.values = values_of(input), .usage = input.looks ? looks(input) : Tensor()};
  }

  static Tensor values_of(const ReadInput& input) {
    const auto& memory = input.memory;
    if (input.similarity == Similarity::kSoftmax) return softmax_read(input);
    const auto map = input.similarity == Similarity::kRelu ? FeatureMap::kRelu : FeatureMap::kElu;
    if (input.causal) return causal_kernel_read(input, map);
    // A mass that is equal for all slots cancels.
    const bool shared = memory.mass.dim() > 0 && memory.mass.stride(-1) == 0 && memory.mass.stride(0) == 0;
    return kernel_attention(input.queries, memory.keys, memory.values, shared ? Tensor() : memory.mass, map);
  }

  /// [n]: number of slots that are complete at each query's position.
  static Tensor complete_slots(const ReadInput& input) {
    const auto& last = input.memory.last;
    const auto position = arange(input.queries.size(2), last.options()) + input.offset;
    return (last.unsqueeze(0) <= position.unsqueeze(1)).sum(1);
  }

  static Tensor softmax_read(const ReadInput& input) {
    const auto& memory = input.memory;
    // mass exp(s) = exp(s + log mass), and log 0 = -inf leaves empty slots out.
    auto bias = memory.mass.log().unsqueeze(-2);  // [batch, heads or 1, 1, slots]
    if (input.causal) {
      const auto hidden = arange(memory.keys.size(2), memory.last.options()) >= complete_slots(input).unsqueeze(1);
      bias = bias.masked_fill(hidden, -std::numeric_limits<double>::infinity());  // [batch, heads or 1, n, slots]
    }
    const auto nothing = (bias > -std::numeric_limits<double>::infinity()).any(-1, true).logical_not();
    bias = bias.masked_fill(nothing, 0);
    return softmax_attention(input.queries, memory.keys, memory.values, bias, false, input.fused).masked_fill(nothing, 0);
  }

  static Tensor causal_kernel_read(const ReadInput& input, FeatureMap map) {
    const auto& memory = input.memory;
    const auto type = input.queries.scalar_type();
    const auto wide = [&](const Tensor& x) { return kernel_features(widened(x), map); };
    const auto k = wide(memory.keys) * widened(memory.mass).unsqueeze(-1);
    const auto v = widened(memory.values), extended = with_ones(v);
    // Sums over the first 0, 1, ..., slots slots. Each query uses one of them.
    const auto sums = ablate::pad((k.unsqueeze(-1) * extended.unsqueeze(-2)).cumsum(2), {0, 0, 0, 0, 1, 0});
    const auto seen = sums.index_select(2, complete_slots(input));  // [batch, heads, n, d, d_value + 1]
    const auto read = wide(input.queries).unsqueeze(-2).matmul(seen).squeeze(-2);
    const auto total = read.narrow(3, v.size(3), 1);
    const auto nothing = total <= least_kernel_sum(total);
    return (read.narrow(3, 0, v.size(3)) / total.masked_fill(nothing, 1)).masked_fill(nothing, 0).to(type);
  }
};

}  // namespace ablate
