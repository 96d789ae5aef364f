// Sums in which all channels of a head decay alike, or do not decay. A chunk's tokens read the sums before the chunk, and
// read each other by weights of pairs, [kTile, kTile]. The backward pass computes the weights again.
#pragma once

#include "core/kernels/cpu/decayed_channels_form.h"

namespace ablate::kernels::cpu {
namespace {

struct DecayedTiles {
  const DecayedSumsCall& c;
  Scratch s;
  int d = c.d, dv = c.d_value;
  float *q_pad = s.take(kTile * d), *k_pad = s.take(kTile * d), *v_pad = s.take(kTile * dv), *dy_pad = s.take(kTile * dv);
  float *out_pad = s.take(kTile * dv), *dq_pad = s.take(kTile * d), *dk_pad = s.take(kTile * d);
  float *q_t = s.take(d * kTile), *k_t = s.take(d * kTile), *v_t = s.take(dv * kTile), *scaled = s.take(kTile * d);
  float *dq = s.take(kTile * d), *dk = s.take(kTile * d), *sums_t = s.take(d * dv);
  float *raw = s.take(kTile * kTile), *decays = s.take(kTile * kTile), *weights = s.take(kTile * kTile);
  float *of_weights = s.take(kTile * kTile), *turned = s.take(kTile * kTile), *of_shared = s.take(kTile * kTile);
  float *log = s.take(kTile), *up = s.take(kTile), *behind = s.take(kTile), *of_log = s.take(kTile), *x = s.take(kTile),
        *y = s.take(kTile);
  float* powers = s.take(c.decay == Decay::kHead ? c.heads * 2 * kTile : 0);  ///< each head: exp((kTile - 1 - i) log), then 0
  float kept = 1;

  DecayedTiles(const DecayedSumsCall& call, float* scratch) : c(call), s{scratch} {
    for (std::int64_t h = 0; c.decay == Decay::kHead && h < c.heads; ++h)
      for (int i = 0; i < 2 * kTile; i += kLanes) {
        const W distance = kTile - 1 - i - lanes();
        const V total = __builtin_convertvector(distance, V) * *c.log_decay.at(0, h, 0);
        store(powers + h * 2 * kTile + i, distance < 0 ? V{} : exponential(total));
      }
  }

  bool decaying() const { return c.decay != Decay::kNone; }

  /// Computes the decays of a chunk: from each token to the chunk's end, from the chunk's start to each token, and in total.
  void take_decays(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t tokens) {
    if (!decaying()) return;
    for (int t = 0; t < kTile; ++t) log[t] = t < tokens ? *c.log_decay.at(b, h, c.decay == Decay::kHead ? 0 : first + t) : 0.F;
    V before{}, after{};
    for (int i = 0; i < kTile; i += kLanes) {
      const V total = sums_up_to(load(log + i)) + before;
      store(up + i, exponential(total));
      before = all(total[kLanes - 1]);
    }
    kept = up[kTile - 1];
    for (int i = kTile - kLanes; i >= 0; i -= kLanes) {
      const V own = load(log + i), total = sums_from(down_by_1(own)) + after;
      store(behind + i, exponential(total));
      after = all(total[0] + own[0]);
    }
  }

  /// Computes `decays`: for a pair, the decay from token j (a lane) to token i; 0 if j > i. Each decay comes from its own sum,
  /// because a difference of two sums from the chunk's start would lose the digits of small sums.
  void pair_decays() const {
    if (c.decay != Decay::kToken) return;
    V left[kBlocks] = {};
    for (int i = 0; i < kTile; ++i)
      for (int block = 0; block < kBlocks; ++block) {
        const W j = lanes() + block * kLanes;
        left[block] = j < i ? left[block] + log[i] : V{};
        store(decays + i * kTile + block * kLanes, block * kLanes > i ? V{} : j <= i ? exponential(left[block]) : V{});
      }
  }

  /// to = from times the decay of each pair, on and before the diagonal; 0 behind the diagonal.
  void decay_pairs(const float* from, float* to, std::int64_t h) const {
    for (int i = 0; i < kTile; ++i) {
      const float* const left = c.decay == Decay::kHead ? powers + h * 2 * kTile + kTile - 1 - i : decays + i * kTile;
      for (int block = 0; block < kTile; block += kLanes) {
        const int at = i * kTile + block;
        const V seen = lanes() + block <= i ? load(from + at) : V{};
        store(to + at, decaying() ? seen * load(left + block) : seen);
      }
    }
  }

  /// Multiplies each row by a number, into contiguous rows. Returns `from` if nothing decays.
  Rows<const float> scale_rows(const Rows<const float>& from, const float* by) const {
    if (!decaying()) return from;
    for (int t = 0; t < kTile; ++t)
      for (int i = 0; i < d; i += kLanes) store(scaled + t * d + i, load(from.data + t * from.row + i) * by[t]);
    return {scaled, d};
  }
  /// Multiplies each token of a transposed tile by a number.
  void scale_lanes(float* tile, const float* by) const {
    if (decaying())
      for (int i = 0; i < d * kTile; i += kLanes) store(tile + i, load(tile + i) * load(by + i % kTile));
  }

  /// Computes products of queries and keys in `raw`, only once if the heads share them.
  void pairs(const Rows<const float>& q, const Rows<const float>& k, std::int64_t h) const {
    transpose(kTile, d, k.data, k.row, k_t, kTile);
    if (h == 0 || !c.shared) c.product(kTile, kTile, d, q.data, q.row, k_t, kTile, raw, kTile, false);
  }

  /// to = the sums after the chunk: the decayed sums plus (keys times `behind`)^T values. Scales `k_t`.
  void go_on(const float* sums, const Rows<const float>& values, float* to) const {
    for (std::int64_t i = 0; i < c.numbers(); i += kLanes) store(to + i, load(sums + i) * kept);
    scale_lanes(k_t, behind);
    c.product(d, dv, kTile, k_t, kTile, values.data, values.row, to, dv, true);
  }

  /// Returns the part of each log decay's gradient from sums carried over the chunk: `sums` times `of_sums` times `kept`.
  float through(const float* sums, const float* of_sums) const {
    V total{};
    for (std::int64_t i = 0; i < c.numbers(); i += kLanes) total += load(sums + i) * load(of_sums + i);
    return sum(total) * kept;
  }

  /// of_sums = of_sums times `kept` + (queries times `up`)^T dy: later chunks and this chunk's queries use the sums before it.
  void read_sums_gradients(const Rows<const float>& q, const Rows<const float>& dy, float* of_sums) const {
    for (std::int64_t i = 0; i < c.numbers(); i += kLanes) store(of_sums + i, load(of_sums + i) * kept);
    transpose(kTile, d, q.data, q.row, q_t, kTile);
    scale_lanes(q_t, up);
    c.product(d, dv, kTile, q_t, kTile, dy.data, dy.row, of_sums, dv, true);
  }

  /// Computes dlog of each token from four parts: pairs that span the token or end at it, reads of the sums before the chunk by
  /// this and later tokens, earlier tokens' additions to the sums behind it, and sums carried over it (`through`).
  /// @param by_pair (at, total): returns total plus the gradient times the weight of the pair at index `at` of [kTile, kTile]
  template <class ByPair>
  void log_gradients(const ByPair& by_pair, float through, std::int64_t b, std::int64_t h, std::int64_t first,
                     std::int64_t tokens, const Heads<float>& to) const {
    V of_pairs[kBlocks] = {}, later{}, earlier{};
    for (int i = kTile - 1; i >= 0; --i)
      for (int block = 0; block < kBlocks; ++block) {
        const int at = i * kTile + block * kLanes;
        of_pairs[block] = by_pair(at, of_pairs[block]);
        store(turned + at, lanes() + block * kLanes < i ? of_pairs[block] : V{});
      }
    for (int i = 0; i < kTile; i += kLanes) {
      V rows[kLanes];
      for (int r = 0; r < kLanes; ++r) {
        rows[r] = V{};
        for (int j = 0; j < kTile; j += kLanes) rows[r] += load(turned + (i + r) * kTile + j);
      }
      store(of_log + i, sums(rows) + through);
    }
    for (int i = kTile - kLanes; i >= 0; i -= kLanes) {
      const V total = sums_from(load(x + i)) + later;
      store(of_log + i, load(of_log + i) + total);
      later = all(total[0]);
    }
    for (int i = 0; i < kTile; i += kLanes) {
      const V own = load(y + i), total = sums_up_to(up_by_1(own)) + earlier;
      store(of_log + i, load(of_log + i) + total);
      earlier = all(total[kLanes - 1] + own[kLanes - 1]);
    }
    for (int t = 0; t < tokens; ++t) *to.at(b, h, first + t) = of_log[t];
  }
};

void decayed_sums(const DecayedSumsCall& c, float* scratch, const Heads<float>& out, float* before, float* state) {
  if (c.decay == Decay::kChannel) return decayed_channels(c, scratch, out, before, state);
  DecayedTiles t(c, scratch);
  const int d = t.d, dv = t.dv;
  const auto numbers = c.numbers(), chunks = c.chunks();
  for (std::int64_t b = 0; b < c.batch; ++b)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      for (std::int64_t h = 0; h < c.heads; ++h) {
        const auto first = chunk * kTile, tokens = c.tokens - first < kTile ? c.tokens - first : kTile, head = b * c.heads + h;
        float* const sums = before + (head * chunks + chunk) * numbers;
        float* const next = chunk + 1 < chunks ? sums + numbers : state + head * numbers;
        if (chunk == 0) begin_with(c.state != nullptr ? c.state + head * numbers : nullptr, numbers, sums);
        const auto q = rows_of(c.q, b, h, first, tokens, d, t.q_pad), k = rows_of(c.k, b, h, first, tokens, d, t.k_pad),
                   v = rows_of(c.v, b, h, first, tokens, dv, t.v_pad);
        const auto to = room_for(out, b, h, first, tokens, dv, t.out_pad);
        t.take_decays(b, h, first, tokens);
        t.pair_decays();
        t.pairs(q, k, h);
        t.decay_pairs(t.raw, t.weights, h);
        c.product(kTile, dv, kTile, t.weights, kTile, v.data, v.row, to.data, to.row, false);
        const auto reading = t.scale_rows(q, t.up);
        c.product(kTile, dv, d, reading.data, reading.row, sums, dv, to.data, to.row, true);
        put(to, out, b, h, first, tokens, dv);
        t.go_on(sums, v, next);
      }
}

void decayed_sums_backward(const DecayedSumsCall& c, float* scratch, const float* before, const Heads<const float>& d_out,
                           const float* d_state, const DecayedSumsGradients& g) {
  if (c.decay == Decay::kChannel) return decayed_channels_backward(c, scratch, before, d_out, d_state, g);
  DecayedTiles t(c, scratch);
  const int d = t.d, dv = t.dv;
  const auto numbers = c.numbers(), chunks = c.chunks();
  float* const d_sums = t.s.take(c.heads * numbers);
  for (std::int64_t b = 0; b < c.batch; ++b) {
    begin_with(d_state != nullptr ? d_state + b * c.heads * numbers : nullptr, c.heads * numbers, d_sums);
    for (std::int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
      const auto first = chunk * kTile, tokens = c.tokens - first < kTile ? c.tokens - first : kTile;
      for (std::int64_t h = 0; h < c.heads; ++h) {
        const float* const sums = before + ((b * c.heads + h) * chunks + chunk) * numbers;
        float* const of_sums = d_sums + h * numbers;
        const auto q = rows_of(c.q, b, h, first, tokens, d, t.q_pad), k = rows_of(c.k, b, h, first, tokens, d, t.k_pad),
                   v = rows_of(c.v, b, h, first, tokens, dv, t.v_pad), dy = rows_of(d_out, b, h, first, tokens, dv, t.dy_pad);
        const auto to_q = room_for(g.q, b, h, first, tokens, d, t.dq_pad),
                   to_k = room_for(g.k, b, h, first, tokens, d, t.dk_pad),
                   to_v = room_for(g.v, b, h, first, tokens, dv, t.out_pad);
        const bool last = h + 1 == c.heads, add = c.shared && h > 0;
        t.take_decays(b, h, first, tokens);
        t.pair_decays();
        t.pairs(q, k, h);
        t.decay_pairs(t.raw, t.weights, h);
        transpose(kTile, dv, v.data, v.row, t.v_t, kTile);
        c.product(kTile, kTile, dv, dy.data, dy.row, t.v_t, kTile, t.of_weights, kTile, false);
        transpose(kTile, kTile, t.weights, kTile, t.turned, kTile);
        c.product(kTile, dv, kTile, t.turned, kTile, dy.data, dy.row, to_v.data, to_v.row, false);
        const auto writing = t.scale_rows(k, t.behind);
        c.product(kTile, dv, d, writing.data, writing.row, of_sums, dv, to_v.data, to_v.row, true);
        put(to_v, g.v, b, h, first, tokens, dv);
        transpose(d, dv, of_sums, dv, t.sums_t, d);
        c.product(kTile, d, dv, v.data, v.row, t.sums_t, d, t.dk, d, false);
        transpose(d, dv, sums, dv, t.sums_t, d);
        c.product(kTile, d, dv, dy.data, dy.row, t.sums_t, d, t.dq, d, false);
        for (int i = 0; i < kTile; ++i) {
          const V up = all(t.decaying() ? t.up[i] : 1.F), behind = all(t.decaying() ? t.behind[i] : 1.F);
          for (int j = 0; j < d; j += kLanes) {
            const V of_q = load(t.dq + i * d + j) * up, of_k = load(t.dk + i * d + j) * behind;
            store(t.dq + i * d + j, of_q), store(t.dk + i * d + j, of_k);
            store(to_q.data + i * to_q.row + j, add ? load(to_q.data + i * to_q.row + j) + of_q : of_q);
            store(to_k.data + i * to_k.row + j, add ? load(to_k.data + i * to_k.row + j) + of_k : of_k);
          }
        }
        if (g.log_decay.data != nullptr) {
          for (int i = 0; i < kTile; i += kLanes) {
            store(t.x + i, row_products(q.data + i * q.row, q.row, t.dq + i * d, d, d));
            store(t.y + i, row_products(k.data + i * k.row, k.row, t.dk + i * d, d, d));
          }
          const auto by_pair = [&](int at, V total) __attribute__((always_inline)) {
            return total + load(t.of_weights + at) * load(t.weights + at);
          };
          t.log_gradients(by_pair, t.through(sums, of_sums), b, h, first, tokens, g.log_decay);
        }
        t.decay_pairs(t.of_weights, t.of_weights, h);
        float* pairs = t.of_weights;
        if (c.shared) {
          if (h > 0)
            add_to(t.of_shared, t.of_weights, kTile * kTile);
          else
            copy_rows(t.of_weights, kTile, kTile, t.of_shared);
          pairs = t.of_shared;
        }
        if (last || !c.shared) {
          c.product(kTile, d, kTile, pairs, kTile, k.data, k.row, to_q.data, to_q.row, true);
          transpose(kTile, kTile, pairs, kTile, t.turned, kTile);
          c.product(kTile, d, kTile, t.turned, kTile, q.data, q.row, to_k.data, to_k.row, true);
          put(to_q, g.q, b, h, first, tokens, d), put(to_k, g.k, b, h, first, tokens, d);
        }
        t.read_sums_gradients(q, dy, of_sums);
      }
    }
    if (g.state != nullptr) copy_rows(d_sums, c.heads, static_cast<int>(numbers), g.state + b * c.heads * numbers);
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
