// Sums with a decay for each channel. Tiles are transposed, with a channel's tokens in lanes. A block of kLanes tokens reads
// the sums before the block. Weights of a block's pairs are computed by diagonals, each of which decays keys by one more token.
#pragma once

#include "core/kernels/cpu/decayed_sums_tiles.h"

namespace ablate::kernels::cpu {
namespace {

struct DecayedChannels {
  const DecayedSumsCall& c;
  Scratch s;
  int d = c.d, dv = c.d_value;
  float *q_pad = s.take(kTile * d), *k_pad = s.take(kTile * d), *log_pad = s.take(kTile * d), *v_pad = s.take(kTile * dv);
  float *dy_pad = s.take(kTile * dv), *out_pad = s.take(kTile * dv);
  float *q = s.take(d * kTile), *k = s.take(d * kTile), *log = s.take(d * kTile), *v = s.take(dv * kTile),
        *dy = s.take(dv * kTile);
  float *dq = s.take(d * kTile), *dk = s.take(d * kTile), *dlog = s.take(d * kTile);
  float *reading = s.take(d * kLanes), *writing = s.take(d * kLanes), *of_reading = s.take(d * kLanes),
        *of_writing = s.take(d * kLanes);  ///< one block, [d, kLanes]
  float *rows = s.take(kLanes * d), *kept = s.take(d), *through = s.take(d);
  float *diagonals = s.take(kLanes * kLanes), *turned = s.take(2 * kLanes * kLanes), *weights = s.take(kLanes * kLanes),
        *of_weights = s.take(kLanes * kLanes);

  DecayedChannels(const DecayedSumsCall& call, float* scratch) : c(call), s{scratch} {}

  void load_tile(std::int64_t b, std::int64_t h, std::int64_t first, std::int64_t tokens) const {
    const auto turn = [&](const Heads<const float>& from, float* padded, float* to) {
      const auto tile = rows_of(from, b, h, first, tokens, d, padded);
      transpose(kTile, d, tile.data, tile.row, to, kTile);
    };
    turn(c.q, q_pad, q), turn(c.k, k_pad, k), turn(c.log_decay, log_pad, log);
  }

  /// Computes, for a block, queries times the decay since the block's start, and keys times the decay up to the block's end.
  void decay_block(int block) const {
    for (int i = 0; i < d; ++i) {
      const int at = i * kTile + block;
      const V own = load(log + at), up = exponential(sums_up_to(own)), behind = exponential(sums_from(down_by_1(own)));
      store(reading + i * kLanes, load(q + at) * up), store(writing + i * kLanes, load(k + at) * behind);
      kept[i] = up[kLanes - 1];
    }
  }

  /// Computes `weights` [kLanes, kLanes] of a block's queries and keys, 0 if the key is later than the query.
  void pairs(int block) const {
    V sum[kLanes] = {};
    for (int i = 0; i < d; ++i) {
      const int at = i * kTile + block;
      const V query = load(q + at), keep = exponential(load(log + at));
      V key = load(k + at);
      sum[0] += query * key;
      for (int distance = 1; distance < kLanes; ++distance) {
        key = up_by_1(key) * keep;
        sum[distance] += query * key;
      }
    }
    // The first diagonal has the largest distance. In row i of their transpose, key j is at kLanes - 1 - i + j.
    for (int distance = 0; distance < kLanes; ++distance) store(diagonals + (kLanes - 1 - distance) * kLanes, sum[distance]);
    transpose(kLanes, kLanes, diagonals, kLanes, turned, kLanes);
    for (int i = 0; i < kLanes; ++i)
      store(weights + i * kLanes, lanes() <= i ? load(turned + i * kLanes + kLanes - 1 - i) : V{});
  }

  /// Computes `diagonals` of a matrix of pairs, largest distance first: the inverse of the last step of pairs().
  void to_diagonals(const float* matrix) const {
    // Keys later than the query have weight 0. These zeros fill a row up to the next row's first key.
    for (int i = 0; i < kLanes; ++i)
      store(turned + i * kLanes + kLanes - 1 - i, lanes() <= i ? load(matrix + i * kLanes) : V{});
    for (int j = 0; j < kLanes - 1; ++j) turned[j] = 0;
    transpose(kLanes, kLanes, turned, kLanes, diagonals, kLanes);
  }

  /// Computes a block's gradients of queries, keys and log decays from `diagonals` (of pairs), of_reading and of_writing.
  void gradients(int block) const {
    V of_pair[kLanes];
    for (int distance = 0; distance < kLanes; ++distance)
      of_pair[distance] = load(diagonals + (kLanes - 1 - distance) * kLanes);
    for (int i = 0; i < d; ++i) {
      const int at = i * kTile + block;
      const V own = load(log + at), query = load(q + at), first = load(k + at), keep = exponential(own);
      const V up = exponential(sums_up_to(own)), behind = exponential(sums_from(down_by_1(own)));
      const V read = load(of_reading + i * kLanes) * up, written = load(of_writing + i * kLanes) * behind;
      V key[kLanes];
      key[0] = first;
      V of_query = of_pair[0] * first + read;
      for (int distance = 1; distance < kLanes; ++distance) {
        key[distance] = up_by_1(key[distance - 1]) * keep;
        of_query += of_pair[distance] * key[distance];
      }
      V of_key{}, of_log{};
      for (int distance = kLanes - 1; distance > 0; --distance) {
        of_key += of_pair[distance] * query;
        of_log += of_key * key[distance];
        of_key = down_by_1(of_key * keep);
      }
      of_key += of_pair[0] * query + written;
      store(dq + at, of_query), store(dk + at, of_key);
      store(dlog + at, of_log + sums_from(query * read) + sums_up_to(up_by_1(first * written)) + through[i]);
    }
  }

  /// to = kept * sums + writing times the block's values, `v_rows`.
  void step(const float* sums, const float* v_rows, int v_row, float* to) const {
    for (int i = 0; i < d; ++i)
      for (int j = 0; j < dv; j += kLanes) store(to + i * dv + j, load(sums + i * dv + j) * kept[i]);
    c.product(d, dv, kLanes, writing, kLanes, v_rows, v_row, to, dv, true);
  }
};

void decayed_channels(const DecayedSumsCall& c, float* scratch, const Heads<float>& out, float* before, float* state) {
  DecayedChannels t(c, scratch);
  const int d = t.d, dv = t.dv;
  const auto numbers = c.numbers(), chunks = c.chunks();
  for (std::int64_t head = 0; head < c.batch * c.heads; ++head) {
    const auto b = head / c.heads, h = head % c.heads;
    float* sums = before + head * chunks * numbers;
    begin_with(c.state != nullptr ? c.state + head * numbers : nullptr, numbers, sums);
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk, sums += numbers) {
      const auto first = chunk * kTile, tokens = c.tokens - first < kTile ? c.tokens - first : kTile;
      float* const next = chunk + 1 < chunks ? sums + numbers : state + head * numbers;
      t.load_tile(b, h, first, tokens);
      const auto v = rows_of(c.v, b, h, first, tokens, dv, t.v_pad);
      const auto to = room_for(out, b, h, first, tokens, dv, t.out_pad);
      for (int block = 0; block < kTile; block += kLanes) {
        const float *const from = block == 0 ? sums : next, *const values = v.data + block * v.row;
        float* const read = to.data + block * to.row;
        t.decay_block(block), t.pairs(block);
        transpose(d, kLanes, t.reading, kLanes, t.rows, d);
        c.product(kLanes, dv, kLanes, t.weights, kLanes, values, v.row, read, to.row, false);
        c.product(kLanes, dv, d, t.rows, d, from, dv, read, to.row, true);
        t.step(from, values, v.row, next);
      }
      put(to, out, b, h, first, tokens, dv);
    }
  }
}

void decayed_channels_backward(const DecayedSumsCall& c, float* scratch, const float* before, const Heads<const float>& d_out,
                               const float* d_state, const DecayedSumsGradients& g) {
  DecayedChannels t(c, scratch);
  const int d = t.d, dv = t.dv;
  const auto numbers = c.numbers(), chunks = c.chunks();
  float *const within = t.s.take(kBlocks * numbers), *const of_sums = t.s.take(numbers);  // within: sums before each block
  for (std::int64_t head = 0; head < c.batch * c.heads; ++head) {
    const auto b = head / c.heads, h = head % c.heads;
    begin_with(d_state != nullptr ? d_state + head * numbers : nullptr, numbers, of_sums);
    for (std::int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
      const auto first = chunk * kTile, tokens = c.tokens - first < kTile ? c.tokens - first : kTile;
      t.load_tile(b, h, first, tokens);
      const auto v = rows_of(c.v, b, h, first, tokens, dv, t.v_pad), dy = rows_of(d_out, b, h, first, tokens, dv, t.dy_pad);
      const auto to_v = room_for(g.v, b, h, first, tokens, dv, t.out_pad);
      transpose(kTile, dv, v.data, v.row, t.v, kTile), transpose(kTile, dv, dy.data, dy.row, t.dy, kTile);
      copy_rows(before + (head * chunks + chunk) * numbers, 1, static_cast<int>(numbers), within);
      for (int i = 0; i + 1 < kBlocks; ++i) {
        t.decay_block(i * kLanes);
        t.step(within + i * numbers, v.data + i * kLanes * v.row, v.row, within + (i + 1) * numbers);
      }
      for (int block = kTile - kLanes; block >= 0; block -= kLanes) {
        const float* const sums = within + block / kLanes * numbers;
        const float* const by = dy.data + block * dy.row;
        t.decay_block(block), t.pairs(block);
        transpose(kLanes, kLanes, t.weights, kLanes, t.of_weights, kLanes);
        c.product(kLanes, dv, kLanes, t.of_weights, kLanes, by, dy.row, to_v.data + block * to_v.row, to_v.row, false);
        transpose(d, kLanes, t.writing, kLanes, t.rows, d);
        c.product(kLanes, dv, d, t.rows, d, of_sums, dv, to_v.data + block * to_v.row, to_v.row, true);
        c.product(kLanes, kLanes, dv, by, dy.row, t.v + block, kTile, t.of_weights, kLanes, false);
        t.to_diagonals(t.of_weights);
        c.product(d, kLanes, dv, sums, dv, t.dy + block, kTile, t.of_reading, kLanes, false);
        c.product(d, kLanes, dv, of_sums, dv, t.v + block, kTile, t.of_writing, kLanes, false);
        for (int i = 0; i < d; i += kLanes) {
          const V total = row_products(sums + i * dv, dv, of_sums + i * dv, dv, dv);
          store(t.through + i, total * load(t.kept + i));
        }
        t.gradients(block);
        for (int i = 0; i < d; ++i)
          for (int j = 0; j < dv; j += kLanes) store(of_sums + i * dv + j, load(of_sums + i * dv + j) * t.kept[i]);
        c.product(d, dv, kLanes, t.reading, kLanes, by, dy.row, of_sums, dv, true);
      }
      put(to_v, g.v, b, h, first, tokens, dv);
      const auto turn = [&](const float* from, float* padded, const Heads<float>& to) {
        const auto tile = room_for(to, b, h, first, tokens, d, padded);
        transpose(d, kTile, from, kTile, tile.data, tile.row);
        put(tile, to, b, h, first, tokens, d);
      };
      turn(t.dq, t.q_pad, g.q), turn(t.dk, t.k_pad, g.k);
      if (g.log_decay.data != nullptr) turn(t.dlog, t.log_pad, g.log_decay);
    }
    if (g.state != nullptr) copy_rows(of_sums, 1, static_cast<int>(numbers), g.state + head * numbers);
  }
}

}  // namespace
}  // namespace ablate::kernels::cpu
