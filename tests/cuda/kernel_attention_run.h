// Forward and backward calls of kernel attention, and a reference in float64.
#pragma once

#include "core/kernels/cuda/kernel_attention.h"
#include "tests/cuda/heads.h"
#include "tests/support/catch.h"

namespace ablate::kernels::cuda::test {

struct Case {
  std::int64_t batch, heads, tokens, keys;
  int d, d_value;
  Features features;
  enum class Mass { kNone, kShared, kByHead, kNothing } mass;  ///< kNothing: every mass is 0
  bool token_major = true;
  double mean = 0.5;  ///< mean of the values: a common part, which cancels in gradients except for rounding errors
};

template <class T>
struct Run {
  Case of;
  Numbers<T> q, k, v, out, d_out, dq, dk, dv;
  Numbers<float> mass, d_mass;
  Vector<float> memory, totals, inverse, scratch;

  explicit Run(const Case& c)
      : of(c),
        q(c.batch, c.heads, c.tokens, c.d, c.token_major),
        k(c.batch, c.heads, c.keys, c.d, c.token_major),
        v(c.batch, c.heads, c.keys, c.d_value, false),
        out(c.batch, c.heads, c.tokens, c.d_value, c.token_major),
        d_out(c.batch, c.heads, c.tokens, c.d_value, false),
        dq(q.batch, c.heads, c.tokens, c.d, false),
        dk(q.batch, c.heads, c.keys, c.d, c.token_major),
        dv(q.batch, c.heads, c.keys, c.d_value, c.token_major),
        mass(c.batch, c.mass == Case::Mass::kByHead ? c.heads : 1, c.keys, 1, c.token_major),
        d_mass(c.batch, c.heads, c.keys, 1, c.token_major) {
    q.fill(1), k.fill(2), v.fill(3, 1, c.mean), d_out.fill(4), mass.fill(5);
    if (c.features == Features::kGiven)
      for (auto* x : {&q, &k})
        for (auto& one : x->data) set_value(one, std::abs(value_of(one)));
    for (auto& one : mass.data) one = c.mass == Case::Mass::kNothing || one < -0.5F ? 0 : std::abs(one);
    const auto sequences = static_cast<std::size_t>(c.batch * c.heads);
    memory.resize(sequences * c.d * c.d_value), totals.resize(sequences * c.d), inverse.resize(sequences * c.tokens);
    scratch.resize(static_cast<std::size_t>(kernel_attention_scratch({c.batch, c.heads, c.tokens}, c.keys, c.d, c.d_value)),
                   NAN);
  }

  Heads<const float> mass_view() {
    if (of.mass == Case::Mass::kNone) return {};
    return {mass.data.data(), mass.stride(0), mass.heads == 1 ? 0 : mass.stride(1), mass.stride(2)};
  }

  /// @param mass_too true to compute the gradient of the mass
  Run& both(bool mass_too = true) {
    const KernelAttention<T> call{
        {of.batch, of.heads, of.tokens}, of.keys, of.d, of.d_value, of.features, q.read(), k.read(), v.read(), mass_view()};
    const KernelAttentionSaved saved{memory.data(), totals.data(), inverse.data()};
    const char* error = kernel_attention(call, out.view(), saved, scratch.data(), stream());
    REQUIRE(after(error) == nullptr);
    KernelAttentionGradients<T> to{dq.view(), dk.view(), dv.view(), {}};
    if (mass_too) to.mass = d_mass.view();
    error = kernel_attention_backward(call, d_out.read(), saved, to, scratch.data(), stream());
    REQUIRE(after(error) == nullptr);
    return *this;
  }

  double weight(std::int64_t b, std::int64_t h, std::int64_t j) {
    return of.mass == Case::Mass::kNone ? 1 : mass.at(b, mass.heads == 1 ? 0 : h, j, 0);
  }
};

constexpr double kLeastSum = 1.0842022e-19;  ///< a query reads 0 if the sum of its weights is at most this

inline double phi(double x, Features map) {
  return map == Features::kElu ? (x > 0 ? x + 1 : std::exp(x)) : map == Features::kRelu ? std::max(x, 0.) : x;
}
inline double slope(double x, Features map) {
  return map == Features::kElu ? (x > 0 ? 1 : std::exp(x)) : map == Features::kRelu ? x > 0 : 1;
}

/// Returns the largest relative differences from the reference, for values and each gradient. The reference adds all pairs.
template <class T>
std::vector<double> differences(Run<T>& run) {
  const auto& c = run.of;
  Exact out(c.batch, c.heads, c.tokens, c.d_value), dq(c.batch, c.heads, c.tokens, c.d), dk(c.batch, c.heads, c.keys, c.d),
      dv(c.batch, c.heads, c.keys, c.d_value), d_mass(c.batch, c.heads, c.keys, 1);
  std::vector<double> dots(static_cast<std::size_t>(c.keys));
  for (std::int64_t b = 0; b < c.batch; ++b)
    for (std::int64_t h = 0; h < c.heads; ++h)
      for (std::int64_t i = 0; i < c.tokens; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < c.keys; ++j) {
          double& dot = dots[static_cast<std::size_t>(j)] = 0;
          for (int x = 0; x < c.d; ++x) dot += phi(run.q.at(b, h, i, x), c.features) * phi(run.k.at(b, h, j, x), c.features);
          sum += dot * run.weight(b, h, j);
          for (int y = 0; y < c.d_value; ++y) out.at(b, h, i, y) += dot * run.weight(b, h, j) * run.v.at(b, h, j, y);
        }
        double of_sum = 0;
        for (int y = 0; y < c.d_value; ++y) {
          out.at(b, h, i, y) = sum > kLeastSum ? out.at(b, h, i, y) / sum : 0;
          of_sum -= run.d_out.at(b, h, i, y) * out.at(b, h, i, y);
        }
        if (!(sum > kLeastSum)) continue;
        for (std::int64_t j = 0; j < c.keys; ++j) {
          double gradient = of_sum / sum;  // gradient of the pair's weight
          const double dot = dots[static_cast<std::size_t>(j)], by = run.weight(b, h, j);
          for (int y = 0; y < c.d_value; ++y) {
            gradient += run.d_out.at(b, h, i, y) / sum * run.v.at(b, h, j, y);
            dv.at(b, h, j, y) += dot * by * run.d_out.at(b, h, i, y) / sum;
          }
          d_mass.at(b, h, j, 0) += gradient * dot;
          for (int x = 0; x < c.d; ++x) {
            const double qx = run.q.at(b, h, i, x), kx = run.k.at(b, h, j, x);
            dq.at(b, h, i, x) += gradient * by * phi(kx, c.features) * slope(qx, c.features);
            dk.at(b, h, j, x) += gradient * by * phi(qx, c.features) * slope(kx, c.features);
          }
        }
      }
  const double least = c.keys == 1 ? 1 : 1e-30;  // with one key, these gradients are 0, so differences are absolute
  return {worst(run.out, out), worst(run.dq, dq, least), worst(run.dk, dk, least), worst(run.dv, dv),
          worst(run.d_mass, d_mass, least)};
}

}  // namespace ablate::kernels::cuda::test
