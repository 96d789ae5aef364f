// Softmax attention of a tile of queries by blocks of keys, as in FlashAttention (Dao 2023, Algorithms 1 and 2). Only the
// scores of a block exist, and the backward pass computes them again. Scores are transposed, [keys, kTile]: a number for each
// query (the largest score, a sum, a gradient's share) is a lane, and no product needs a transposed block.
#pragma once

#include "core/kernels/cpu/softmax_attention.h"
#include "core/kernels/cpu/tiles.h"

namespace ablate::kernels::cpu {
namespace {

constexpr float kNoScore = -3.0e38F;  ///< score of a hidden key; a score of -infinity hides a key too, as in LibTorch's kernel

/// One head of a sequence, and its scratch.
struct SoftmaxTiles {
  const SoftmaxAttentionCall& c;
  Scratch s;
  int d = c.d, dv = c.d_value;
  int keys = static_cast<int>(c.padded_keys());
  float *k_rows = s.take(c.padded_keys() * d), *v_rows = s.take(c.padded_keys() * dv);
  float* turned = s.take(c.padded_keys() * (d > dv ? d : dv));  ///< transposed values, or in the backward pass transposed keys
  float *q_rows = s.take(kTile * d), *q_t = s.take(kTile * d), *dq_t = s.take(kTile * d);
  float *out_rows = s.take(kTile * dv), *out_t = s.take(kTile * dv);
  float *scores = s.take(kKeyBlock * kTile), *of_scores = s.take(kKeyBlock * kTile);
  float *most = s.take(kTile), *total = s.take(kTile), *share = s.take(kTile);
  float* biases = s.take(c.padded_keys());
  // Only for the backward pass, whose scratch is longer.
  float *dk = s.take(c.padded_keys() * d), *dv_rows = s.take(c.padded_keys() * dv);

  SoftmaxTiles(const SoftmaxAttentionCall& call, float* scratch) : c(call), s{scratch} {}

  /// Copies rows of a head to contiguous rows, with zeros behind them.
  template <class T>
  ABLATE_INLINE_MEMBER void gather(const Heads<T>& from, std::int64_t b, std::int64_t h, std::int64_t begin, std::int64_t count,
                                   std::int64_t rows, int channels, float by, float* to) const {
    for (std::int64_t i = 0; i < rows; ++i)
      for (int j = 0; j < channels; j += kLanes)
        store(to + i * channels + j, i < count ? load(from.at(b, h, begin + i) + j) * by : V{});
  }
  ABLATE_INLINE_MEMBER void scatter(const float* from, int channels, float by, std::int64_t b, std::int64_t h,
                                    std::int64_t begin, std::int64_t count, const Heads<float>& to) const {
    for (std::int64_t i = 0; i < count; ++i)
      for (int j = 0; j < channels; j += kLanes) store(to.at(b, h, begin + i) + j, load(from + i * channels + j) * by);
  }

  /// Loads the queries of a tile, times the scale.
  void take_queries(std::int64_t b, std::int64_t h, std::int64_t tile) const {
    const auto begin = tile * kTile, count = c.n - begin < kTile ? c.n - begin : kTile;
    gather(c.q, b, h, begin, count, kTile, d, c.scale, q_rows);
    transpose(kTile, d, q_rows, d, q_t, kTile);
  }

  /// Returns the number of keys that a tile of queries reads, in whole tiles.
  std::int64_t end_of_keys(std::int64_t tile) const {
    const auto end = c.causal ? (tile + 1) * kTile : c.padded_keys();
    return end < c.padded_keys() ? end : c.padded_keys();
  }

  void take_biases(std::int64_t b, std::int64_t h) const {
    for (std::int64_t i = 0; i < c.padded_keys(); ++i)
      biases[i] = i >= c.m ? -__builtin_inff() : c.bias.data != nullptr ? *c.bias.at(b, h, i) : 0.F;
  }
  bool hidden(std::int64_t key) const { return biases[key] == -__builtin_inff(); }

  /// Returns a key's score if the query sees it, otherwise kNoScore. `row` has scores of queries tile * kTile + lane.
  ABLATE_INLINE_MEMBER V seen_score(const float* row, int lane, std::int64_t key, std::int64_t tile) const {
    const V score = load(row + lane) + biases[key];
    if (!c.causal || key < tile * kTile) return score;
    return lanes() + lane < static_cast<int>(key - tile * kTile) ? all(kNoScore) : score;
  }

  /// scores [block, kTile] = keys times queries.
  void score(std::int64_t begin, int block) const {
    c.product(block, kTile, d, k_rows + begin * d, d, q_t, kTile, scores, kTile, false);
  }

  /// Updates `most` with the scores of these keys, and multiplies `total` by `share`, the factor for the earlier sums.
  void raise_most(std::int64_t begin, int block, std::int64_t tile) const {
    for (int lane = 0; lane < kTile; lane += kLanes) {
      const V before = load(most + lane);
      V now = before;
      for (int j = 0; j < block; ++j) {
        if (hidden(begin + j)) continue;
        const V x = seen_score(scores + j * kTile, lane, begin + j, tile);
        now = x > now ? x : now;
      }
      const V left = exponential(before - now);
      store(most + lane, now), store(share + lane, left);
      store(total + lane, load(total + lane) * left);
    }
  }

  /// scores = exp(scores - most), 0 if a key is not seen. Adds them to the sums if `summed`.
  template <bool summed>
  ABLATE_INLINE_MEMBER void weigh(std::int64_t begin, int block, std::int64_t tile) const {
    for (int lane = 0; lane < kTile; lane += kLanes) {
      const V highest = load(most + lane);
      V sum{};  // this block's own sum, for fewer roundings
      for (int j = 0; j < block; ++j) {
        float* const row = scores + j * kTile;
        if (hidden(begin + j)) {
          store(row + lane, V{});
          continue;
        }
        const V x = seen_score(row, lane, begin + j, tile);
        const V weight = x <= kNoScore ? V{} : exponential(x - highest);
        store(row + lane, weight);
        if (summed) sum += weight;
      }
      if (summed) store(total + lane, load(total + lane) + sum);
    }
  }

  void forward_tile(std::int64_t b, std::int64_t h, std::int64_t tile, const Heads<float>& out, float* statistics) const {
    take_queries(b, h, tile);
    for (int i = 0; i < kTile; i += kLanes) store(most + i, all(kNoScore)), store(total + i, V{});
    set_zero(out_t, kTile * dv);
    const auto end = end_of_keys(tile);
    for (std::int64_t begin = 0; begin < end; begin += kKeyBlock) {
      const int block = static_cast<int>(end - begin < kKeyBlock ? end - begin : kKeyBlock);
      score(begin, block);
      raise_most(begin, block, tile);
      weigh<true>(begin, block, tile);
      for (int i = 0; begin > 0 && i < kTile * dv; i += kLanes) store(out_t + i, load(out_t + i) * load(share + i % kTile));
      c.product(dv, kTile, block, turned + begin, keys, scores, kTile, out_t, kTile, begin > 0);
    }
    for (int i = 0; i < kTile; i += kLanes) {
      const V sum = load(total + i);
      store(total + i, sum == 0.F ? V{} : 1.F / sum);  // NaN stays NaN
      store(statistics + i, load(most + i)), store(statistics + kTile + i, load(total + i));
    }
    for (int i = 0; i < kTile * dv; i += kLanes) store(out_t + i, load(out_t + i) * load(total + i % kTile));
    transpose(dv, kTile, out_t, kTile, out_rows, dv);
    const auto first = tile * kTile;
    scatter(out_rows, dv, 1, b, h, first, c.n - first < kTile ? c.n - first : kTile, out);
  }

  void backward_tile(std::int64_t b, std::int64_t h, std::int64_t tile, const Heads<const float>& out, const float* statistics,
                     const Heads<const float>& d_out, const Heads<float>& dq) const {
    take_queries(b, h, tile);
    const auto first = tile * kTile, count = c.n - first < kTile ? c.n - first : kTile;
    gather(d_out, b, h, first, count, kTile, dv, 1, out_rows);
    transpose(kTile, dv, out_rows, dv, out_t, kTile);
    for (int i = 0; i < kTile; ++i) {  // for each query the product of its output and its gradient
      V along{};
      for (int j = 0; i < count && j < dv; j += kLanes)
        along += load(out.at(b, h, first + i) + j) * load(out_rows + i * dv + j);
      share[i] = sum(along);
    }
    for (int i = 0; i < kTile; i += kLanes) {
      store(most + i, load(statistics + i));
      store(total + i, lanes() + i < static_cast<int>(count) ? load(statistics + kTile + i) : V{});
    }
    const auto end = end_of_keys(tile);
    for (std::int64_t begin = 0; begin < end; begin += kKeyBlock) {
      const int block = static_cast<int>(end - begin < kKeyBlock ? end - begin : kKeyBlock);
      score(begin, block);
      weigh<false>(begin, block, tile);
      c.product(block, kTile, dv, v_rows + begin * dv, dv, out_t, kTile, of_scores, kTile, false);
      for (int i = 0; i < block * kTile; i += kLanes) {
        const int lane = i % kTile;
        const V inverse = load(total + lane), weight = inverse == 0.F ? V{} : load(scores + i) * inverse;
        store(scores + i, weight);
        store(of_scores + i, weight * (load(of_scores + i) - load(share + lane)));
      }
      c.product(block, dv, kTile, scores, kTile, out_rows, dv, dv_rows + begin * dv, dv, true);
      c.product(block, d, kTile, of_scores, kTile, q_rows, d, dk + begin * d, d, true);
      c.product(d, kTile, block, turned + begin, keys, of_scores, kTile, dq_t, kTile, begin > 0);
    }
    transpose(d, kTile, dq_t, kTile, q_rows, d);
    scatter(q_rows, d, c.scale, b, h, first, count, dq);
  }
};

void softmax_attention(const SoftmaxAttentionCall& c, std::int64_t begin, std::int64_t end, float* scratch,
                       const Heads<float>& out, float* statistics) {
  const SoftmaxTiles t(c, scratch);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto b = i / c.heads, h = i % c.heads;
    t.take_biases(b, h);
    t.gather(c.k, b, h, 0, c.m, c.padded_keys(), c.d, 1, t.k_rows);
    t.gather(c.v, b, h, 0, c.m, c.padded_keys(), c.d_value, 1, t.v_rows);
    transpose(t.keys, c.d_value, t.v_rows, c.d_value, t.turned, t.keys);
    for (std::int64_t tile = 0; tile < c.tiles(); ++tile)
      t.forward_tile(b, h, tile, out, statistics + i * c.statistics() + tile * 2 * kTile);
  }
}

void softmax_attention_backward(const SoftmaxAttentionCall& c, std::int64_t begin, std::int64_t end, float* scratch,
                                const Heads<const float>& out, const float* statistics, const Heads<const float>& d_out,
                                const SoftmaxAttentionGradients& g) {
  const SoftmaxTiles t(c, scratch);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto b = i / c.heads, h = i % c.heads;
    t.take_biases(b, h);
    t.gather(c.k, b, h, 0, c.m, c.padded_keys(), c.d, 1, t.k_rows);
    transpose(t.keys, c.d, t.k_rows, c.d, t.turned, t.keys);
    t.gather(c.v, b, h, 0, c.m, c.padded_keys(), c.d_value, 1, t.v_rows);
    set_zero(t.dk, c.padded_keys() * c.d), set_zero(t.dv_rows, c.padded_keys() * c.d_value);
    for (std::int64_t tile = 0; tile < c.tiles(); ++tile)
      t.backward_tile(b, h, tile, out, statistics + i * c.statistics() + tile * 2 * kTile, d_out, g.q);
    t.scatter(t.dk, c.d, 1, b, h, 0, c.m, g.k);
    t.scatter(t.dv_rows, c.d_value, 1, b, h, 0, c.m, g.v);
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
