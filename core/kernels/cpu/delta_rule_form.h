// Delta rule in its WY form. Let u_i = strength_i (v_i - (decayed S_(i-1))^T k_i). Then S_i = decay_i S_(i-1) + k_i u_i^T, so
// sums of u decay like sums of v. Within a chunk that begins with S, all u together solve a triangular system: u_i = strength_i
// (v_i - decayed k_i S - the sum over j < i of decayed k_i k_j u_j).
#pragma once

#include "core/kernels/cpu/decayed_sums_form.h"
#include "core/kernels/cpu/delta_rule.h"

namespace ablate::kernels::cpu {
namespace {

struct DeltaTiles : DecayedTiles {
  const DeltaRuleCall& call;
  float *met = s.take(kTile * kTile), *system = s.take(kTile * kTile), *of_met = s.take(kTile * kTile);
  float *missing = s.take(kTile * dv), *of_missing = s.take(kTile * dv), *dk_behind = s.take(kTile * d);
  float *strength = s.take(kTile), *of_strength = s.take(kTile);

  DeltaTiles(const DeltaRuleCall& of, float* scratch) : DecayedTiles(of.sums, scratch), call(of) {}

  void take(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t tokens) {
    take_decays(b, h, first, tokens);
    pair_decays();
    for (int t = 0; t < kTile; ++t) strength[t] = t < tokens ? *call.strengths.at(b, h, first + t) : 0.F;
  }

  /// Computes `met`, the product of keys i and j < i with their decay, and `system`, which is met times -strength_i.
  void keys_met(const Rows<const float>& k) const {
    transpose(kTile, d, k.data, k.row, k_t, kTile);
    c.product(kTile, kTile, d, k.data, k.row, k_t, kTile, met, kTile, false);
    for (int i = 0; i < kTile; ++i)
      for (int block = 0; block < kTile; block += kLanes) {
        const int at = i * kTile + block;
        V seen = lanes() + block < i ? load(met + at) : V{};
        if (decaying()) seen *= load(decays + at);
        store(met + at, seen), store(system + at, seen * -strength[i]);
      }
  }

  /// Computes `weights` of query i and key j <= i.
  void queries_met(const Rows<const float>& q) const {
    c.product(kTile, kTile, d, q.data, q.row, k_t, kTile, raw, kTile, false);
    decay_pairs(raw, weights, 0);
  }

  /// Computes `missing`: v minus the values that the sums before the chunk return for the keys.
  void miss(const Rows<const float>& k, const Rows<const float>& v, const float* sums) const {
    const auto reading = scale_rows(k, up);
    c.product(kTile, dv, d, reading.data, reading.row, sums, dv, missing, dv, false);
    for (int t = 0; t < kTile; ++t)
      for (int i = 0; i < dv; i += kLanes)
        store(missing + t * dv + i, load(v.data + t * v.row + i) - load(missing + t * dv + i));
  }

  /// tile [kTile, dv] = (1 - system)^-1 tile, by blocks of tokens, first to last.
  void solve(float* tile) const {
    for (int block = 0; block < kTile; block += kLanes) {
      float* const rows = tile + block * dv;
      const float* const own = system + block * kTile;
      if (block > 0) c.product(kLanes, dv, block, own, kTile, tile, dv, rows, dv, true);
      for (int i = 0; i < dv; i += kLanes) {
        V row[kLanes];
#pragma GCC unroll 16
        for (int r = 0; r < kLanes; ++r) row[r] = load(rows + r * dv + i);
#pragma GCC unroll 16
        for (int from = 0; from < kLanes; ++from)
#pragma GCC unroll 16
          for (int r = from + 1; r < kLanes; ++r) row[r] += row[from] * own[r * kTile + block + from];
#pragma GCC unroll 16
        for (int r = 0; r < kLanes; ++r) store(rows + r * dv + i, row[r]);
      }
    }
  }

  /// tile = (1 - system^T)^-1 tile, by blocks, last to first.
  void solve_transposed(float* tile) const {
    transpose(kTile, kTile, system, kTile, turned, kTile);
    for (int block = kTile - kLanes; block >= 0; block -= kLanes) {
      const int behind_it = block + kLanes;
      float* const rows = tile + block * dv;
      const float* const own = system + block * kTile;
      if (behind_it < kTile)
        c.product(kLanes, dv, kTile - behind_it, turned + block * kTile + behind_it, kTile, tile + behind_it * dv, dv, rows, dv,
                  true);
      for (int i = 0; i < dv; i += kLanes) {
        V row[kLanes];
#pragma GCC unroll 16
        for (int r = 0; r < kLanes; ++r) row[r] = load(rows + r * dv + i);
#pragma GCC unroll 16
        for (int from = kLanes - 1; from > 0; --from)
#pragma GCC unroll 16
          for (int r = 0; r < from; ++r) row[r] += row[from] * own[from * kTile + block + r];
#pragma GCC unroll 16
        for (int r = 0; r < kLanes; ++r) store(rows + r * dv + i, row[r]);
      }
    }
  }

  /// Multiplies rows by their strengths.
  void weigh(float* rows) const {
    for (int t = 0; t < kTile; ++t)
      for (int i = 0; i < dv; i += kLanes) store(rows + t * dv + i, load(rows + t * dv + i) * strength[t]);
  }

  /// Computes `raw`: numbers of pairs that log_gradients() sums. `of_weights` and `of_met` must be products of gradients and u.
  void pair_gradients() const {
    for (int i = 0; i < kTile * kTile; i += kLanes)
      store(raw + i, load(of_weights + i) * load(weights + i) + load(of_met + i) * load(system + i));
  }

  /// Computes gradients of strengths, and (from products with u) gradients of pairs of keys.
  void strength_gradients() const {
    for (int i = 0; i < kTile; i += kLanes) {
      V rows[kLanes];
      for (int r = 0; r < kLanes; ++r) {
        rows[r] = V{};
        for (int block = 0; block < kTile; block += kLanes) {
          const int at = (i + r) * kTile + block;
          const V found = load(of_met + at);
          rows[r] -= found * load(met + at);
          const V seen = lanes() + block < i + r ? found * -strength[i + r] : V{};
          store(of_met + at, decaying() ? seen * load(decays + at) : seen);
        }
        for (int j = 0; j < dv; j += kLanes) rows[r] += load(of_missing + (i + r) * dv + j) * load(missing + (i + r) * dv + j);
      }
      store(of_strength + i, sums(rows));
    }
  }

  /// Multiplies `dq`, `dk` (also by -1) and `dk_behind` by their decays, and writes gradients of queries and keys from them.
  void of_reads(const Rows<float>& to_q, const Rows<float>& to_k) const {
    for (int t = 0; t < kTile; ++t) {
      const V left = all(decaying() ? up[t] : 1.F), then = all(decaying() ? behind[t] : 1.F);
      for (int i = 0; i < d; i += kLanes) {
        const int at = t * d + i;
        const V of_q = load(dq + at) * left, of_k = load(dk + at) * -left, later = load(dk_behind + at) * then;
        store(dq + at, of_q), store(dk + at, of_k), store(dk_behind + at, later);
        store(to_q.data + t * to_q.row + i, of_q), store(to_k.data + t * to_k.row + i, of_k + later);
      }
    }
  }
};

void delta_rule(const DeltaRuleCall& call, float* scratch, const Heads<float>& out, float* before, float* moved, float* state) {
  const auto& c = call.sums;
  DeltaTiles t(call, scratch);
  const int d = t.d, dv = t.dv;
  const auto numbers = c.numbers(), chunks = c.chunks();
  for (std::int64_t b = 0; b < c.batch; ++b)
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      for (std::int64_t h = 0; h < c.heads; ++h) {
        const auto first = chunk * kTile, tokens = c.tokens - first < kTile ? c.tokens - first : kTile, head = b * c.heads + h;
        float* const sums = before + (head * chunks + chunk) * numbers;
        float* const u = moved + (head * chunks + chunk) * call.moved();
        if (chunk == 0) begin_with(c.state != nullptr ? c.state + head * numbers : nullptr, numbers, sums);
        const auto q = rows_of(c.q, b, h, first, tokens, d, t.q_pad), k = rows_of(c.k, b, h, first, tokens, d, t.k_pad),
                   v = rows_of(c.v, b, h, first, tokens, dv, t.v_pad);
        const auto to = room_for(out, b, h, first, tokens, dv, t.out_pad);
        t.take(b, h, first, tokens);
        t.keys_met(k);
        t.miss(k, v, sums);
        copy_rows(t.missing, kTile, dv, u);
        t.weigh(u);
        t.solve(u);
        t.queries_met(q);
        c.product(kTile, dv, kTile, t.weights, kTile, u, dv, to.data, to.row, false);
        const auto reading = t.scale_rows(q, t.up);
        c.product(kTile, dv, d, reading.data, reading.row, sums, dv, to.data, to.row, true);
        put(to, out, b, h, first, tokens, dv);
        t.go_on(sums, {u, dv}, chunk + 1 < chunks ? sums + numbers : state + head * numbers);
      }
}

void delta_rule_backward(const DeltaRuleCall& call, float* scratch, const float* before, const float* moved,
                         const Heads<const float>& d_out, const float* d_state, const DeltaRuleGradients& gradients) {
  const auto& c = call.sums;
  const auto& g = gradients.sums;
  DeltaTiles t(call, scratch);
  const int d = t.d, dv = t.dv;
  const auto numbers = c.numbers(), chunks = c.chunks();
  float* const d_sums = t.s.take(c.heads * numbers);
  for (std::int64_t b = 0; b < c.batch; ++b) {
    begin_with(d_state != nullptr ? d_state + b * c.heads * numbers : nullptr, c.heads * numbers, d_sums);
    for (std::int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
      const auto first = chunk * kTile, tokens = c.tokens - first < kTile ? c.tokens - first : kTile;
      for (std::int64_t h = 0; h < c.heads; ++h) {
        const auto place = (b * c.heads + h) * chunks + chunk;
        const float *const sums = before + place * numbers, *const u = moved + place * call.moved();
        float* const of_sums = d_sums + h * numbers;
        const auto q = rows_of(c.q, b, h, first, tokens, d, t.q_pad), k = rows_of(c.k, b, h, first, tokens, d, t.k_pad),
                   v = rows_of(c.v, b, h, first, tokens, dv, t.v_pad), dy = rows_of(d_out, b, h, first, tokens, dv, t.dy_pad);
        const auto to_q = room_for(g.q, b, h, first, tokens, d, t.dq_pad),
                   to_k = room_for(g.k, b, h, first, tokens, d, t.dk_pad);
        t.take(b, h, first, tokens);
        t.keys_met(k);
        t.queries_met(q);
        t.miss(k, v, sums);
        // `of_missing`: first gradients of u; after solve_transposed(), of strength x missing; after weigh(), of `missing`.
        transpose(kTile, kTile, t.weights, kTile, t.turned, kTile);
        c.product(kTile, dv, kTile, t.turned, kTile, dy.data, dy.row, t.of_missing, dv, false);
        const auto writing = t.scale_rows(k, t.behind);
        c.product(kTile, dv, d, writing.data, writing.row, of_sums, dv, t.of_missing, dv, true);
        t.solve_transposed(t.of_missing);
        // Gradients of pairs, strengths and values.
        transpose(kTile, dv, u, dv, t.v_t, kTile);
        c.product(kTile, kTile, dv, dy.data, dy.row, t.v_t, kTile, t.of_weights, kTile, false);
        c.product(kTile, kTile, dv, t.of_missing, dv, t.v_t, kTile, t.of_met, kTile, false);
        if (g.log_decay.data != nullptr) t.pair_gradients();
        t.decay_pairs(t.of_weights, t.of_weights, 0);
        t.strength_gradients();
        t.weigh(t.of_missing);
        for (int i = 0; i < tokens; ++i) {
          *gradients.strengths.at(b, h, first + i) = t.of_strength[i];
          float* const of_v = g.v.at(b, h, first + i);
          for (int j = 0; j < dv; j += kLanes) store(of_v + j, load(t.of_missing + i * dv + j));
        }
        // Gradients of queries and keys from the sums before and behind the chunk.
        transpose(d, dv, sums, dv, t.sums_t, d);
        c.product(kTile, d, dv, dy.data, dy.row, t.sums_t, d, t.dq, d, false);
        c.product(kTile, d, dv, t.of_missing, dv, t.sums_t, d, t.dk, d, false);
        transpose(d, dv, of_sums, dv, t.sums_t, d);
        c.product(kTile, d, dv, u, dv, t.sums_t, d, t.dk_behind, d, false);
        t.of_reads(to_q, to_k);
        if (g.log_decay.data != nullptr) {
          for (int i = 0; i < kTile; i += kLanes) {
            store(t.x + i, row_products(q.data + i * q.row, q.row, t.dq + i * d, d, d) +
                               row_products(k.data + i * k.row, k.row, t.dk + i * d, d, d));
            store(t.y + i, row_products(k.data + i * k.row, k.row, t.dk_behind + i * d, d, d));
          }
          const auto by_pair = [&](int at, V total) __attribute__((always_inline)) { return total + load(t.raw + at); };
          t.log_gradients(by_pair, t.through(sums, of_sums), b, h, first, tokens, g.log_decay);
        }
        // Gradients of queries and keys from pairs.
        c.product(kTile, d, kTile, t.of_weights, kTile, k.data, k.row, to_q.data, to_q.row, true);
        transpose(kTile, kTile, t.of_weights, kTile, t.turned, kTile);
        c.product(kTile, d, kTile, t.turned, kTile, q.data, q.row, to_k.data, to_k.row, true);
        transpose(kTile, kTile, t.of_met, kTile, t.turned, kTile);
        add_to(t.of_met, t.turned, kTile * kTile);
        c.product(kTile, d, kTile, t.of_met, kTile, k.data, k.row, to_k.data, to_k.row, true);
        put(to_q, g.q, b, h, first, tokens, d), put(to_k, g.k, b, h, first, tokens, d);
        // Gradient of the sums before the chunk, which queries read and keys subtract.
        t.read_sums_gradients(q, dy, of_sums);
        for (int i = 0; i < d * kTile; i += kLanes)
          store(t.k_t + i, load(t.k_t + i) * (t.decaying() ? -load(t.up + i % kTile) : all(-1.F)));
        c.product(d, dv, kTile, t.k_t, kTile, t.of_missing, dv, of_sums, dv, true);
      }
    }
    if (g.state != nullptr) copy_rows(d_sums, c.heads, static_cast<int>(numbers), g.state + b * c.heads * numbers);
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
