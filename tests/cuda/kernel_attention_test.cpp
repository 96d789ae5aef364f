// The kernels of kernel attention, on a CPU or a device, compared with the equation in float64 at hostile sizes.
#include "tests/cuda/kernel_attention_run.h"

using namespace ablate::kernels::cuda;
using namespace ablate::kernels::cuda::test;
namespace shim = ablate::shim;

namespace {

template <class T>
bool gaps_untouched(const Run<T>& run) {
  return run.out.gaps_untouched() && run.dk.gaps_untouched() && run.dv.gaps_untouched();
}

constexpr double kFloat = 1e-5, kHalf = 1e-2;
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
    {1, 2, 65, 70, 256, 32, Features::kGiven, Mass::kShared},  // performer's features
    {1, 1, 3, 66, 1024, 300, Features::kRelu, Mass::kNone},
};

std::string named(const Case& c) {
  return std::to_string(c.tokens) + " tokens, " + std::to_string(c.keys) + " keys, " + std::to_string(c.d) + " x " +
         std::to_string(c.d_value) + " channels";
}

}  // namespace

TEST_CASE("kernel attention has the values and gradients of its equation in float32", "[kernel_attention]") {
  for (const auto& c : kCases) {
    INFO(named(c));
    Run<float> run(c);
    for (const double difference : differences(run.both())) CHECK(difference < kFloat);
    CHECK(gaps_untouched(run));
  }
}

TEST_CASE("kernel attention in bfloat16 is correct to bfloat16 rounding", "[kernel_attention]") {
  for (const auto& c : kCases) {
    INFO(named(c));
    Run<Bf16> run(c);
    for (const double difference : differences(run.both())) CHECK(difference < kHalf);
    CHECK(gaps_untouched(run));
  }
}

// A query's gradient is the difference of two terms. Each term is larger than the gradient by the factor
// mean / deviation * sqrt(keys), which is 80 to 640. In bfloat16, both terms come from the same rounded numbers, so the
// difference is as exact as these numbers. In float32, the difference loses two to three of its seven digits.
TEST_CASE("the common part of all keys cancels in gradients, and the rest stays exact", "[kernel_attention][long]") {
  for (const auto& c : {Case{1, 1, 17, 4096, 64, 64, Features::kElu, Mass::kNone, true, 2},
                        Case{1, 1, 9, 4096, 128, 17, Features::kRelu, Mass::kByHead, false, 10},
                        Case{1, 1, 1000, 65, 33, 65, Features::kElu, Mass::kShared, true, 10}}) {
    INFO(named(c));
    Run<float> run(c);
    for (const double difference : differences(run.both())) CHECK(difference < 3e-4);
    Run<Bf16> half(c);
    for (const double difference : differences(half.both())) CHECK(difference < kHalf);
  }
}

template <class T>
void check_queries_that_read_nothing(double most) {
  Run<T> run({1, 2, 70, 40, 17, 16, Features::kRelu, Mass::kShared});
  const auto blind = [](std::int64_t h, std::int64_t t) { return (h == 0 && t == 5) || (h == 1 && t == 66); };
  run.q.each([&](auto b, auto h, auto t, auto x) {
    if (blind(h, t)) set_value(run.q.data[run.q.index(b, h, t, x)], h == 0 ? -1 : 1e-22);  // 0 < sum < kLeastSum
  });
  run.d_out.each([&](auto b, auto h, auto t, auto y) {
    if (blind(h, t)) set_value(run.d_out.data[run.d_out.index(b, h, t, y)], NAN);  // no gradient flows back from there
  });
  for (const double difference : differences(run.both())) CHECK(difference < most);
  for (auto* x : {&run.out, &run.dq})
    x->each([&](auto b, auto h, auto t, auto y) { CHECK((x->at(b, h, t, y) == 0) >= blind(h, t)); });
  CHECK((run.inverse[5] == 0 && run.inverse[70 + 66] == 0 && run.inverse[6] != 0));
}

TEST_CASE("queries whose weights sum to 0 or nearly 0 return 0, and other queries are unaffected", "[kernel_attention]") {
  check_queries_that_read_nothing<float>(kFloat);
  check_queries_that_read_nothing<Bf16>(kHalf);
  // Above kLeastSum, the size of a sum makes no difference.
  Run<float> run({1, 1, 70, 40, 17, 16, Features::kRelu, Mass::kShared}), small = run;
  for (auto& one : small.q.data) one = std::ldexp(one, -60);
  run.both(), small.both();
  CHECK(same_bits(small.out.data, run.out.data));
}

TEST_CASE("the gradient of a mass is optional, and so is the mass", "[kernel_attention]") {
  for (const auto mass : {Mass::kNone, Mass::kByHead}) {
    Run<float> with({1, 2, 70, 40, 17, 16, Features::kElu, mass}), without = with;
    with.both(), without.both(false);
    CHECK(same_bits(without.dq.data, with.dq.data));
    CHECK(same_bits(without.dk.data, with.dk.data));
    CHECK(same_bits(without.dv.data, with.dv.data));
    CHECK(std::isnan(without.d_mass.data[0]));
  }
  // Masses of 1 give the same bits as no masses.
  Run<float> none({1, 2, 70, 40, 17, 16, Features::kElu, Mass::kNone}),
      ones({1, 2, 70, 40, 17, 16, Features::kElu, Mass::kShared});
  for (auto& one : ones.mass.data) one = 1;
  none.both(), ones.both();
  CHECK(same_bits(none.out.data, ones.out.data));
  CHECK(same_bits(none.d_mass.data, ones.d_mass.data));
}

TEST_CASE("if no key counts, all results are 0, whatever the keys contain", "[kernel_attention]") {
  for (const std::int64_t keys : {0, 40}) {
    Run<float> run({2, 2, 70, keys, 17, 16, Features::kElu, Mass::kNothing});
    for (auto& one : run.k.data) one = NAN;
    for (auto& one : run.v.data) one = NAN;
    run.both();
    for (auto* x : {&run.out, &run.dq, &run.dk, &run.dv})
      x->each([&](auto b, auto h, auto t, auto c) { CHECK(x->at(b, h, t, c) == 0); });
  }
}

TEST_CASE("numbers that are not finite spread only to the queries that read them", "[kernel_attention]") {
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

TEST_CASE("sizes of 0 are allowed for the batch and the queries", "[kernel_attention]") {
  Run<float>({0, 2, 70, 40, 17, 16, Features::kElu, Mass::kNone}).both();
  Run<float> run({1, 2, 0, 40, 17, 16, Features::kElu, Mass::kNone});
  run.both();
  for (auto* x : {&run.dk, &run.dv}) x->each([&](auto b, auto h, auto t, auto c) { CHECK(x->at(b, h, t, c) == 0); });
}

TEST_CASE("kernel attention reports sizes that the kernel does not support", "[kernel_attention]") {
  KernelAttention<float> call{{1, 1, 1}, 1, 1025, 1, Features::kElu, {}, {}, {}, {}};
  CHECK(std::string(kernel_attention(call, {}, {}, nullptr, nullptr)) ==
        "kernel attention: expected heads of 1 to 1024 channels");
  call.d = 1, call.keys = -1;
  CHECK(std::string(kernel_attention(call, {}, {}, nullptr, nullptr)) == "kernel attention: found a size below 0 or no head");
}

template <class T>
void check_same_bits(const Run<T>& a, const Run<T>& b) {
  CHECK(same_bits(a.out.data, b.out.data));
  CHECK(same_bits(a.dq.data, b.dq.data));
  CHECK(same_bits(a.dk.data, b.dk.data));
  CHECK(same_bits(a.dv.data, b.dv.data));
  CHECK(same_bits(a.d_mass.data, b.d_mass.data));
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
    check_same_bits(again.both(), first);
    check_same_bits(half_again.both(), half);
  }
  run_in(shim::Order::kAscending);
}
