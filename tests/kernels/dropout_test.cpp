// Factors of dropout: the share of zeros, the independence of neighbours and calls, and equal bits with all instructions.
#include <ATen/Context.h>

#include <cmath>

#include "ablate/random.h"
#include "core/kernels/choice.h"
#include "core/kernels/dropout_noise.h"
#include "tests/support/catch.h"

using namespace ablate;

namespace {

constexpr std::int64_t kCount = 1 << 20;
constexpr double kDeviations = 5;  // exceeded by chance once in 1.7 million

Tensor drawn(std::int64_t count, double probability, std::uint64_t seed = 1) {
  at::manual_seed(seed);
  return kernels::dropout_noise({count}, probability);
}

/// Returns the correlation, in standard deviations of independent draws.
double correlation(const Tensor& a, const Tensor& b, double probability) {
  const double kept = 1 / (1 - probability), variance = probability * kept;
  return ((a.to(kDouble) - 1) * (b.to(kDouble) - 1)).mean().item<double>() / variance *
         std::sqrt(static_cast<double>(a.numel()));
}

}  // namespace

TEST_CASE("dropout drops the given share of numbers, and scales the others") {
  for (const double probability : {0.001, 0.1, 0.5, 0.9}) {
    INFO(probability);
    const auto noise = drawn(kCount, probability);
    const auto dropped = (noise == 0).to(kDouble).mean().item<double>();
    CHECK(std::abs(dropped - probability) < kDeviations * std::sqrt(probability * (1 - probability) / kCount));
    CHECK(noise.max().item<double>() == Approx(1 / (1 - probability)).epsilon(1e-6));
    CHECK((noise != 0).logical_and(noise != noise.max()).sum().item<std::int64_t>() == 0);
  }
}

TEST_CASE("draws are independent of their neighbours, of the generator's next draws and of other calls") {
  for (const double probability : {0.1, 0.5}) {
    const auto noise = drawn(kCount, probability), other = kernels::dropout_noise({kCount}, probability);
    CHECK(std::abs(correlation(noise, other, probability)) < kDeviations);
    CHECK(std::abs(correlation(noise, drawn(kCount, probability, 2), probability)) < kDeviations);
    for (const std::int64_t lag : {1, 2, 8, 15, 16, 17, 32, 48, 64, 128, 1024, 8192}) {
      INFO(probability << ", " << lag);
      const auto end = kCount - lag;
      CHECK(std::abs(correlation(noise.slice(0, 0, end), noise.slice(0, lag), probability)) < kDeviations);
      CHECK(std::abs(correlation(other.slice(0, 0, end), noise.slice(0, lag), probability)) < kDeviations);
    }
    // Catches one generator that is worse than the 15 others.
    const auto lanes = (noise.view({-1, 16}) == 0).to(kDouble).mean(0);
    const double deviation = std::sqrt(probability * (1 - probability) / (kCount / 16));
    CHECK((lanes - probability).abs().max().item<double>() < kDeviations * deviation);
  }
}

TEST_CASE("dependent draws are noticed") {
  const auto noise = drawn(kCount, 0.1);
  CHECK(std::abs(correlation(noise, drawn(kCount, 0.1), 0.1)) > 100 * kDeviations);
  auto mixed = drawn(kCount, 0.1, 2);
  mixed.slice(0, 0, kCount, 64).copy_(noise.slice(0, 0, kCount, 64));  // every 64th number comes from the other draw
  CHECK(std::abs(correlation(noise, mixed, 0.1)) > kDeviations);
}

TEST_CASE("the seed determines the draws, and a shorter draw is the beginning of a longer one") {
  const auto noise = drawn(1003, 0.3);
  CHECK(noise.equal(drawn(1003, 0.3)));
  CHECK(!noise.equal(drawn(1003, 0.3, 2)));
  for (const std::int64_t count : {0, 1, 15, 16, 17, 500}) CHECK(drawn(count, 0.3).equal(noise.slice(0, 0, count)));
}

TEST_CASE("all instructions draw the same bits") {
  const auto expected = drawn(1003, 0.3);
  const auto draw_of = [](const kernels::cpu::Form& form) {
    auto noise = zeros({1003});
    form.noise(0x123456789abcdef, 644245094, 1.25F, 1003, noise.mutable_data_ptr<float>());
    return noise;
  };
  const auto plain = draw_of(kernels::cpu::plain::kForm);
  CHECK(draw_of(kernels::form()).equal(plain));
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") != 0) CHECK(draw_of(kernels::cpu::avx2::kForm).equal(plain));
  if (__builtin_cpu_supports("avx512dq") != 0) CHECK(draw_of(kernels::cpu::avx512::kForm).equal(plain));
#endif
}

TEST_CASE("other types drop the same numbers as float32, and probability 0 draws nothing") {
  const auto x = ones({64, 3}).requires_grad_();
  at::manual_seed(1);
  const auto single = kernels::dropout(x, 0.3);
  for (const auto type : {kDouble, c10::kBFloat16}) {
    at::manual_seed(1);
    const auto other = kernels::dropout(x.to(type), 0.3);
    CHECK((other.scalar_type() == type));
    CHECK((other == 0).equal(single == 0));
  }
  at::manual_seed(1);
  CHECK(kernels::dropout(x, 0).is_same(x));
  CHECK(kernels::dropout(x, 0.3).equal(single));
}

TEST_CASE("instructions() returns only instructions that torch may use") {
  const auto* lowered = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string most = lowered == nullptr ? "avx512" : lowered;
  CHECK((kernels::instructions() == most || kernels::instructions() == "avx2" || kernels::instructions().empty()));
  if (most == "default") CHECK(kernels::instructions().empty());
  if (most == "avx2") CHECK(kernels::instructions() != "avx512");
}
