// Kernel attention's kernels, run on a CPU, against its equation in float64 at hostile sizes.
#include "core/kernels/cuda/kernel_attention.h"

#include "tests/cuda/heads.h"
#include "tests/support/catch.h"

using namespace ablate::kernels::cuda;
namespace shim = ablate::shim;

namespace {

struct Case {
  std::int64_t batch, heads, tokens, keys;
  int d, d_value;
  Features features;
  enum class Mass { kNone, kShared, kByHead, kNothing } mass;  ///< kNothing: no key counts
  bool token_major = true;
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
        mass(c.batch, c.mass == Case::Mass::kByHead ? c.heads : 1, c.keys, 1, false),
        d_mass(c.batch, c.heads, c.keys, 1, false) {
    q.fill(1), k.fill(2), v.fill(3, 1, 0.5), d_out.fill(4), mass.fill(5);
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
    return {mass.data.data(), mass.heads * of.keys, mass.heads == 1 ? 0 : of.keys, 1};
  }

  Run& both() {
    const KernelAttention<T> call{
        {of.batch, of.heads, of.tokens}, of.keys, of.d, of.d_value, of.features, q.read(), k.read(), v.read(), mass_view()};
    const KernelAttentionSaved saved{memory.data(), totals.data(), inverse.data()};
    const char* error = kernel_attention(call, out.view(), saved, scratch.data(), nullptr);
    REQUIRE(after(error) == nullptr);
    const KernelAttentionGradients<T> to{dq.view(), dk.view(), dv.view(), {d_mass.data.data(), of.heads * of.keys, of.keys, 1}};
    error = kernel_attention_backward(call, out.read(), d_out.read(), saved, to, scratch.data(), nullptr);
    REQUIRE(after(error) == nullptr);
    return *this;
  }

  double weight(std::int64_t b, std::int64_t h, std::int64_t j) {
    return of.mass == Case::Mass::kNone ? 1 : mass.at(b, mass.heads == 1 ? 0 : h, j, 0);
  }
};

double phi(double x, Features map) {
  return map == Features::kElu ? (x > 0 ? x + 1 : std::exp(x)) : map == Features::kRelu ? std::max(x, 0.) : x;
}
double slope(double x, Features map) {
  return map == Features::kElu ? (x > 0 ? 1 : std::exp(x)) : map == Features::kRelu ? x > 0 : 1;
}

/// The largest difference of values and of each gradient: pairs of tokens one by one.
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
          out.at(b, h, i, y) = sum > 0 ? out.at(b, h, i, y) / sum : 0;
          of_sum -= run.d_out.at(b, h, i, y) * out.at(b, h, i, y);
        }
        if (!(sum > 0)) continue;
        for (std::int64_t j = 0; j < c.keys; ++j) {
          double gradient = of_sum / sum;  // of the pair's weight
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
  const double least = c.keys == 1 ? 1 : 1e-30;  // the gradients of weights are 0 there
  return {worst(run.out, out), worst(run.dq, dq, least), worst(run.dk, dk, least), worst(run.dv, dv),
          worst(run.d_mass, d_mass, least)};
}

template <class T>
bool gaps_untouched(const Run<T>& run) {
  return run.out.gaps_untouched() && run.dk.gaps_untouched() && run.dv.gaps_untouched();
}

// Of the largest number. The gradients of keys are differences of larger sums, each of products of bfloat16s.
constexpr double kFloat = 1e-5, kHalf = 5e-2;
using Mass = Case::Mass;

const Case kCases[] = {
    {2, 2, 1, 1, 1, 1, Features::kElu, Mass::kNone},
    {1, 2, 63, 65, 16, 17, Features::kElu, Mass::kShared},
    {1, 1, 64, 64, 64, 64, Features::kRelu, Mass::kByHead},
    {2, 2, 65, 63, 17, 16, Features::kGiven, Mass::kByHead},
    {1, 2, 127, 300, 128, 64, Features::kElu, Mass::kByHead, false},
    {1, 1, 65, 1000, 17, 64, Features::kGiven, Mass::kShared},
    {1, 1, 1000, 17, 33, 128, Features::kRelu, Mass::kNone},
    {1, 3, 1, 70, 64, 1, Features::kElu, Mass::kShared},
};

std::string named(const Case& c) {
  return std::to_string(c.tokens) + " tokens, " + std::to_string(c.keys) + " keys, " + std::to_string(c.d) + " x " +
         std::to_string(c.d_value) + " channels";
}

}  // namespace

TEST_CASE("kernel attention gives its equation's values and gradients in float32", "[kernel_attention]") {
  for (const auto& c : kCases) {
    INFO(named(c));
    Run<float> run(c);
    for (const double difference : differences(run.both())) CHECK(difference < kFloat);
    CHECK(gaps_untouched(run));
  }
}

TEST_CASE("kernel attention in bfloat16 is as exact as that", "[kernel_attention]") {
  for (const auto& c : kCases) {
    INFO(named(c));
    Run<Bf16> run(c);
    for (const double difference : differences(run.both())) CHECK(difference < kHalf);
    CHECK(gaps_untouched(run));
  }
}

TEST_CASE("where no key counts all is 0, whatever stands in the keys", "[kernel_attention]") {
  for (const std::int64_t keys : {0, 40}) {
    Run<float> run({2, 2, 70, keys, 17, 16, Features::kElu, Mass::kNothing});
    for (auto& one : run.k.data) one = NAN;
    for (auto& one : run.v.data) one = NAN;
    run.both();
    for (auto* x : {&run.out, &run.dq, &run.dk, &run.dv})
      x->each([&](auto b, auto h, auto t, auto c) { CHECK(x->at(b, h, t, c) == 0); });
  }
}

TEST_CASE("what is not finite spreads to those that read it, and no further", "[kernel_attention]") {
  for (const auto features : {Features::kElu, Features::kRelu})
    for (const float bad : {NAN, INFINITY}) {
      Run<float> query({1, 2, 70, 40, 17, 16, features, Mass::kShared});
      Run<float> key = query, value = query;
      query.q.data[query.q.index(0, 1, 66, 3)] = bad;
      key.k.data[key.k.index(0, 1, 0, 3)] = bad, key.mass.data[0] = 1;
      value.v.data[value.v.index(0, 1, 0, 3)] = bad, value.mass.data[0] = 1;
      query.both(), key.both(), value.both();
      query.out.each([&](auto b, auto h, auto t, auto c) {
        CHECK(std::isnan(query.out.at(b, h, t, c)) == (h == 1 && t == 66));
        CHECK(std::isnan(key.out.at(b, h, t, c)) >= (h == 1 && features == Features::kElu));
        CHECK((h == 1 || std::isfinite(key.out.at(b, h, t, c))));
        CHECK(std::isfinite(value.out.at(b, h, t, c)) == !(h == 1 && c == 3));
      });
      query.dk.each([&](auto b, auto h, auto t, auto c) {
        CHECK(std::isfinite(query.dk.at(b, h, t, c)) == (h == 0 || query.weight(b, h, t) == 0));
      });
    }
}

TEST_CASE("no batch and no query are taken", "[kernel_attention]") {
  Run<float>({0, 2, 70, 40, 17, 16, Features::kElu, Mass::kNone}).both();
  Run<float> run({1, 2, 0, 40, 17, 16, Features::kElu, Mass::kNone});
  run.both();
  for (auto* x : {&run.dk, &run.dv}) x->each([&](auto b, auto h, auto t, auto c) { CHECK(x->at(b, h, t, c) == 0); });
}

TEST_CASE("sizes that kernel attention has no form for are told", "[kernel_attention]") {
  KernelAttention<float> call{{1, 1, 1}, 1, 129, 1, Features::kElu, {}, {}, {}, {}};
  CHECK(std::string(kernel_attention(call, {}, {}, nullptr, nullptr)) ==
        "kernel attention: expected heads of 1 to 128 channels");
  call.d = 1, call.keys = -1;
  CHECK(std::string(kernel_attention(call, {}, {}, nullptr, nullptr)) == "kernel attention: found a size below 0 or no head");
}

TEST_CASE("kernel attention has the same bits in any order of threads and blocks", "[kernel_attention]") {
  const Case c{1, 2, 127, 300, 65, 17, Features::kElu, Mass::kByHead};
  Run<float> first(c);
  Run<Bf16> half(c);
  first.both(), half.both();
  for (const auto order : {shim::Order::kDescending, shim::Order::kShuffled}) {
    run_in(order);
    Run<float> again(c);
    Run<Bf16> half_again(c);
    again.both(), half_again.both();
    CHECK(same_bits(again.out.data, first.out.data));
    CHECK(same_bits(again.dq.data, first.dq.data));
    CHECK(same_bits(again.dk.data, first.dk.data));
    CHECK(same_bits(again.dv.data, first.dv.data));
    CHECK(same_bits(again.d_mass.data, first.d_mass.data));
    CHECK(same_bits(half_again.out.data, half.out.data));
    CHECK(same_bits(half_again.dk.data, half.dk.data));
  }
  run_in(shim::Order::kAscending);
}
