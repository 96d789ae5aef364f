// The kernels of decayed sums, on a CPU or a device, compared with the recurrence in float64 at hostile sizes and decays.
#include "core/kernels/cuda/decayed_sums.h"

#include "tests/cuda/heads.h"
#include "tests/support/catch.h"

using namespace ablate::kernels::cuda;
namespace shim = ablate::shim;
namespace {

enum class Decay { kNone, kSlow, kMixed, kTotal };  ///< decay factors: kMixed: 1 to e^-40; kTotal: 0

struct Case {
  std::int64_t batch, heads, tokens;
  int d, d_value;
  bool alike;
  Decay decay;
  bool state = true, token_major = true;
};

template <class T>
struct Run {
  Case of;
  Numbers<T> q, k, v, out, d_out, dq, dk, dv;
  Numbers<float> log_decay, d_decay, state, end, d_end, d_state;
  Vector<float> before, kept, scratch;

  explicit Run(const Case& c)
      : of(c),
        q(c.batch, c.heads, c.tokens, c.d, c.token_major),
        k(c.batch, c.heads, c.tokens, c.d, c.token_major),
        v(c.batch, c.heads, c.tokens, c.d_value, false),
        out(c.batch, c.heads, c.tokens, c.d_value, c.token_major),
        d_out(c.batch, c.heads, c.tokens, c.d_value, c.token_major),
        dq(c.batch, c.heads, c.tokens, c.d, false),
        dk(c.batch, c.heads, c.tokens, c.d, c.token_major),
        dv(c.batch, c.heads, c.tokens, c.d_value, c.token_major),
        log_decay(c.batch, c.heads, c.tokens, c.alike ? 1 : c.d, c.token_major),
        d_decay(c.batch, c.heads, c.tokens, c.alike ? 1 : c.d, false),
        state(c.batch, c.heads, c.d, c.d_value, false),
        end(c.batch, c.heads, c.d, c.d_value, false),
        d_end(c.batch, c.heads, c.d, c.d_value, false),
        d_state(c.batch, c.heads, c.d, c.d_value, false) {
    q.fill(1), k.fill(2, 0.3), v.fill(3), d_out.fill(4), state.fill(5), d_end.fill(6), log_decay.fill(7);
    for (auto& one : log_decay.data)
      if (!std::isnan(one)) one = decayed(one);
    const auto chunks = static_cast<std::size_t>(c.batch * c.heads * decayed_sums_chunks(c.tokens) * c.d);
    before.resize(chunks * c.d_value, NAN), kept.resize(chunks, NAN);
    scratch.resize(static_cast<std::size_t>(decayed_sums_scratch({c.batch, c.heads, c.tokens}, c.d, c.d_value)), NAN);
  }

  float decayed(float normal) const {
    switch (of.decay) {
      case Decay::kNone:
        return 0;
      case Decay::kSlow:
        return -0.02F * std::abs(normal);
      case Decay::kMixed:
        return normal < 0 ? -std::exp(2 * normal) : normal < 1.5F ? -std::abs(normal) : -40;
      case Decay::kTotal:
        return normal < 0 ? -3000 : -INFINITY;
    }
    return NAN;
  }

  DecayedSums<T> call() {
    return {{of.batch, of.heads, of.tokens},       of.d, of.d_value, q.read(), k.read(), v.read(), log_decay.read(), of.alike,
            of.state ? state.data.data() : nullptr};
  }

  Run& both() {
    const DecayedSumsSaved saved{before.data(), kept.data()};
    const char* error = decayed_sums(call(), out.view(), end.data.data(), saved, stream());
    REQUIRE(after(error) == nullptr);
    const DecayedSumsGradients<T> to{dq.view(), dk.view(), dv.view(), d_decay.view(), d_state.data.data()};
    error = decayed_sums_backward(call(), d_out.read(), d_end.data.data(), saved, to, scratch.data(), stream());
    REQUIRE(after(error) == nullptr);
    return *this;
  }
};

/// Checks that both runs have the same bits in values, S_n and gradients. Leaves out the gradients of the decays.
template <class T>
void check_same_bits(const Run<T>& a, const Run<T>& b) {
  CHECK(same_bits(a.out.data, b.out.data));
  CHECK(same_bits(a.end.data, b.end.data));
  CHECK(same_bits(a.dq.data, b.dq.data));
  CHECK(same_bits(a.dk.data, b.dk.data));
  CHECK(same_bits(a.dv.data, b.dv.data));
  CHECK(same_bits(a.d_state.data, b.d_state.data));
}

/// Returns the largest differences from a reference, for values, S_n and each gradient. The reference goes token by token.
template <class T>
std::vector<double> differences(Run<T>& run) {
  const auto& c = run.of;
  const auto n = c.tokens;
  Exact out(c.batch, c.heads, n, c.d_value), dq(c.batch, c.heads, n, c.d), dk(c.batch, c.heads, n, c.d),
      dv(c.batch, c.heads, n, c.d_value), d_decay(c.batch, c.heads, n, c.alike ? 1 : c.d),
      end(c.batch, c.heads, c.d, c.d_value), d_state(c.batch, c.heads, c.d, c.d_value);
  const auto numbers = static_cast<std::size_t>(c.d * c.d_value);
  for (std::int64_t b = 0; b < c.batch; ++b)
    for (std::int64_t h = 0; h < c.heads; ++h) {
      std::vector<std::vector<double>> sums(static_cast<std::size_t>(n + 1), std::vector<double>(numbers));
      const auto decay = [&](std::int64_t t, int x) { return std::exp(run.log_decay.at(b, h, t, c.alike ? 0 : x)); };
      std::vector<double> gradient(numbers);
      for (int x = 0; x < c.d; ++x)
        for (int y = 0; y < c.d_value; ++y) {
          const auto i = static_cast<std::size_t>(x * c.d_value + y);
          sums[0][i] = c.state ? run.state.at(b, h, x, y) : 0;
          for (std::int64_t t = 0; t < n; ++t) {
            const auto s = static_cast<std::size_t>(t);
            sums[s + 1][i] = decay(t, x) * sums[s][i] + run.k.at(b, h, t, x) * run.v.at(b, h, t, y);
            out.at(b, h, t, y) += run.q.at(b, h, t, x) * sums[s + 1][i];
          }
          end.at(b, h, x, y) = sums[static_cast<std::size_t>(n)][i];
          double g = run.d_end.at(b, h, x, y);
          for (std::int64_t t = n - 1; t >= 0; --t) {
            const auto s = static_cast<std::size_t>(t);
            g += run.q.at(b, h, t, x) * run.d_out.at(b, h, t, y);
            dq.at(b, h, t, x) += sums[s + 1][i] * run.d_out.at(b, h, t, y);
            dk.at(b, h, t, x) += g * run.v.at(b, h, t, y);
            dv.at(b, h, t, y) += g * run.k.at(b, h, t, x);
            d_decay.at(b, h, t, c.alike ? 0 : x) += decay(t, x) * g * sums[s][i];
            g *= decay(t, x);
          }
          d_state.at(b, h, x, y) = g;
        }
    }
  const double least = c.decay == Decay::kTotal ? 1e-6 : 1e-30;  // with total decay, the gradients of decays and of S_0 are 0
  return {worst(run.out, out),
          worst(run.end, end),
          worst(run.dq, dq),
          worst(run.dk, dk),
          worst(run.dv, dv),
          worst(run.d_decay, d_decay, least),
          worst(run.d_state, d_state, least)};
}

constexpr double kFloat = 2e-6, kHalf = 2e-2;  // relative to the largest number

const Case kCases[] = {
    {2, 2, 1, 1, 1, false, Decay::kMixed},
    {1, 2, 63, 16, 17, true, Decay::kSlow},
    {1, 1, 64, 64, 64, false, Decay::kMixed},
    {2, 2, 65, 17, 16, false, Decay::kTotal},
    {1, 2, 127, 128, 64, true, Decay::kMixed},
    {1, 1, 127, 64, 128, false, Decay::kSlow, false},
    {1, 1, 130, 128, 128, false, Decay::kMixed, true, false},
    {1, 1, 1000, 17, 16, false, Decay::kMixed},
    {1, 2, 1000, 16, 1, true, Decay::kNone, false},
    {1, 1, 200, 1, 64, true, Decay::kTotal},
    {1, 1, 70, 273, 33, true, Decay::kNone},  // the plugin based: 1, 16 and 256 features
    {1, 2, 65, 256, 64, true, Decay::kSlow},  // mamba2, published sizes
    {1, 1, 3, 1024, 300, false, Decay::kMixed},
};

std::string named(const Case& c) {
  return std::to_string(c.tokens) + " tokens, " + std::to_string(c.d) + " x " + std::to_string(c.d_value) +
         " channels, decay " + std::to_string(static_cast<int>(c.decay)) + (c.alike ? ", alike" : "");
}

template <class T>
void check_cases(double most) {
  for (const auto& c : kCases) {
    INFO(named(c));
    Run<T> run(c);
    int which = 0;
    for (const double difference : differences(run.both())) {
      INFO("number " << which++);
      CHECK(difference < most);
    }
    CHECK((run.out.gaps_untouched() && run.dk.gaps_untouched() && run.dv.gaps_untouched()));
  }
}

}  // namespace

TEST_CASE("decayed sums have the values and gradients of the recurrence in float32", "[decayed_sums]") {
  check_cases<float>(kFloat);
}

TEST_CASE("decayed sums in bfloat16 are correct to bfloat16 rounding", "[decayed_sums]") { check_cases<Bf16>(kHalf); }

TEST_CASE("a sequence that is split anywhere has the same sums and gradients as the whole sequence", "[decayed_sums]") {
  const Case c{1, 2, 130, 17, 16, false, Decay::kMixed};
  Run<float> whole(c);
  whole.both();
  const auto behind = [](auto heads, std::int64_t tokens) {
    heads.data += tokens * heads.token;
    return heads;
  };
  for (const std::int64_t cut : {0, 1, 63, 64, 65, 100, 129, 130}) {
    INFO(cut);
    Run<float> parts(c);
    Vector<float> middle(parts.end.data.size()), d_middle(middle.size());
    auto first = parts.call(), second = first;
    first.shape.tokens = cut, second.shape.tokens = c.tokens - cut;
    second.q = behind(second.q, cut), second.k = behind(second.k, cut), second.v = behind(second.v, cut);
    second.log_decay = behind(second.log_decay, cut), second.state = middle.data();
    auto before = parts.before, kept = parts.kept;
    const DecayedSumsSaved of_first{parts.before.data(), parts.kept.data()}, of_second{before.data(), kept.data()};
    REQUIRE(after(decayed_sums(first, parts.out.view(), middle.data(), of_first, stream())) == nullptr);
    REQUIRE(after(decayed_sums(second, behind(parts.out.view(), cut), parts.end.data.data(), of_second, stream())) == nullptr);
    const DecayedSumsGradients<float> to{parts.dq.view(), parts.dk.view(), parts.dv.view(), parts.d_decay.view(),
                                         parts.d_state.data.data()},
        to_second{behind(parts.dq.view(), cut), behind(parts.dk.view(), cut), behind(parts.dv.view(), cut),
                  behind(parts.d_decay.view(), cut), d_middle.data()};
    const auto d_out = parts.d_out.read();
    auto* const scratch = parts.scratch.data();
    REQUIRE(after(decayed_sums_backward(second, behind(d_out, cut), parts.d_end.data.data(), of_second, to_second, scratch,
                                        stream())) == nullptr);
    REQUIRE(after(decayed_sums_backward(first, d_out, d_middle.data(), of_first, to, scratch, stream())) == nullptr);
    for (const double difference : differences(parts)) CHECK(difference < kFloat);
  }
}

TEST_CASE("unrequested results are not written, and sizes of 0 are allowed for sequences and tokens", "[decayed_sums]") {
  Run<float>({0, 2, 70, 17, 16, false, Decay::kSlow}).both();
  Run<float> none({1, 2, 0, 17, 16, true, Decay::kSlow});
  none.both();
  CHECK(same_bits(none.end.data, none.state.data));
  CHECK(same_bits(none.d_state.data, none.d_end.data));
  Run<float> run({1, 2, 70, 17, 16, true, Decay::kSlow}), with(run.of);
  with.both();
  const DecayedSumsSaved saved{run.before.data(), run.kept.data()};
  REQUIRE(after(decayed_sums(run.call(), run.out.view(), nullptr, saved, stream())) == nullptr);
  const DecayedSumsGradients<float> to{run.dq.view(), run.dk.view(), run.dv.view(), run.d_decay.view(), nullptr};
  REQUIRE(after(decayed_sums_backward(run.call(), run.d_out.read(), nullptr, saved, to, run.scratch.data(), stream())) ==
          nullptr);
  CHECK(same_bits(run.out.data, with.out.data));
  REQUIRE(after(decayed_sums(run.call(), run.out.view(), run.state.data.data(), saved, stream())) == nullptr);
  CHECK(same_bits(run.state.data, with.end.data));  // S_n overwrites S_0
  for (auto& one : with.d_end.data) one = 0;
  with.both();
  CHECK(same_bits(run.dk.data, with.dk.data));
  CHECK(same_bits(run.d_decay.data, with.d_decay.data));
}

TEST_CASE("one sequence's log decays can serve all sequences, and each sequence has its own gradient", "[decayed_sums]") {
  const Case c{2, 2, 70, 17, 16, false, Decay::kMixed};
  Run<float> repeated(c), shared(c);
  shared.log_decay.each([&](auto b, auto h, auto t, auto x) {
    repeated.log_decay.data[repeated.log_decay.index(b, h, t, x)] = shared.log_decay.data[shared.log_decay.index(0, h, t, x)];
  });
  repeated.both();
  auto call = shared.call();
  call.log_decay.batch = 0;
  const DecayedSumsSaved saved{shared.before.data(), shared.kept.data()};
  REQUIRE(after(decayed_sums(call, shared.out.view(), nullptr, saved, stream())) == nullptr);
  const DecayedSumsGradients<float> to{shared.dq.view(), shared.dk.view(), shared.dv.view(), shared.d_decay.view(), nullptr};
  REQUIRE(after(decayed_sums_backward(call, shared.d_out.read(), shared.d_end.data.data(), saved, to, shared.scratch.data(),
                                      stream())) == nullptr);
  CHECK(same_bits(shared.out.data, repeated.out.data));
  CHECK(same_bits(shared.d_decay.data, repeated.d_decay.data));
}

TEST_CASE("decayed sums report sizes that the kernel does not support", "[decayed_sums]") {
  DecayedSums<float> call{{1, 1, 1}, 1, 0, {}, {}, {}, {}, true, nullptr};
  CHECK(std::string(decayed_sums(call, {}, nullptr, {}, nullptr)) == "decayed sums: expected heads of 1 to 1024 channels");
  call.d_value = 1, call.shape.heads = 0;
  CHECK(std::string(decayed_sums(call, {}, nullptr, {}, nullptr)) == "decayed sums: found a size below 0 or no head");
  call.shape.heads = 1, call.alike = false;
  CHECK(std::string(decayed_sums(call, {}, nullptr, {}, nullptr)) ==
        "decayed sums: found no log decays, although each channel has its own decay (alike = false)");
}

TEST_CASE("sums without decay need no log decays, and have the same bits as with log decays of 0", "[decayed_sums]") {
  const Case c{1, 2, 130, 65, 17, true, Decay::kNone};
  Run<float> zeros(c), none(c);
  zeros.both();
  auto call = none.call();
  call.log_decay = {};
  const DecayedSumsSaved saved{none.before.data(), none.kept.data()};
  REQUIRE(after(decayed_sums(call, none.out.view(), none.end.data.data(), saved, stream())) == nullptr);
  const DecayedSumsGradients<float> to{none.dq.view(), none.dk.view(), none.dv.view(), {}, none.d_state.data.data()};
  REQUIRE(after(decayed_sums_backward(call, none.d_out.read(), none.d_end.data.data(), saved, to, none.scratch.data(),
                                      stream())) == nullptr);
  check_same_bits(none, zeros);
}

TEST_CASE("decayed sums have the same bits in any order of threads and blocks", "[decayed_sums]") {
  for (const bool alike : {false, true}) {
    const Case c{1, 2, 130, 65, 17, alike, Decay::kMixed};
    Run<float> first(c);
    Run<Bf16> half(c);
    first.both(), half.both();
    for (const auto order : {shim::Order::kDescending, shim::Order::kShuffled}) {
      run_in(order);
      Run<float> again(c);
      Run<Bf16> half_again(c);
      again.both(), half_again.both();
      check_same_bits(again, first);
      CHECK(same_bits(again.d_decay.data, first.d_decay.data));
      check_same_bits(half_again, half);
      CHECK(same_bits(half_again.d_decay.data, half.d_decay.data));
    }
    run_in(shim::Order::kAscending);
  }
}
