// A causal convolution by transforms (FFT) needs no exemption, although its rounding reaches earlier outputs. A convolution
// that leaks passes only with an exemption, and only up to the tolerance of the exemption.
#include <ATen/ops/fft_irfft.h>
#include <ATen/ops/fft_rfft.h>

#include "ablate/headwise.h"
#include "tests/conformance/suite_of.h"

using namespace ablate;

namespace {

/// out_i = sum over j up to i of v_j / (1 + i - j), plus `leak` times the next token.
class Transformed : public HeadwiseAttention {
 public:
  Transformed(const AttentionContext& context, double leak)
      : HeadwiseAttention(context, HeadOptions{.heads = 1, .queries = false, .keys = false}), leak_(leak) {}

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto n = input.v.size(2);
    const auto filter = (arange(n, input.v.options()) + 1).reciprocal().view({1, 1, n, 1});
    const auto read = at::fft_irfft(at::fft_rfft(input.v, 2 * n, 2) * at::fft_rfft(filter, 2 * n, 2), 2 * n, 2);
    const auto behind = ablate::pad(input.v, {0, 0, 0, 1}).narrow(2, 1, n);
    return {.values = read.narrow(2, 0, n) + behind * leak_};
  }

  double leak_;
};

struct Right final : Transformed {
  explicit Right(const AttentionContext& context) : Transformed(context, 0) {}
};
struct Leaky final : Transformed {
  explicit Leaky(const AttentionContext& context) : Transformed(context, 0.02) {}
};
struct NoNumber final : Transformed {
  explicit NoNumber(const AttentionContext& context) : Transformed(context, std::nan("")) {}
};

/// @param exemptions must live as long as the result
template <class Made>
Descriptor transformed(std::span<const Exemption> exemptions = {}) {
  return tests::attention_of<Made>({.id = "transformed",
                                    .version = "1.0.0",
                                    .summary = "a long convolution",
                                    .capabilities = {.causal = true, .key_padding = true, .bidirectional = false},
                                    .exemptions = exemptions});
}

std::string said(const Descriptor& plugin, const std::string& name, Verdict verdict) {
  for (const auto& check : tests::checks_of(plugin, {"causal", "exemptions"}))
    if (check.name == name) {
      CHECK(check.verdict == verdict);
      return check.found;
    }
  return "";
}

}  // namespace

TEST_CASE("a causal convolution by transforms passes without an exemption", "[conformance][transforms]") {
  CHECK(tests::Record().suite(transformed<Right>()).empty());
  static const Exemption idle[] = {{"causal", "", "it rounds", 1e-3}};
  tests::check_mentions(said(transformed<Right>(idle), "exemptions", Verdict::kPassed), "not needed: causal");
}

TEST_CASE("an exemption does not excuse a fault above its tolerance, or a NaN", "[conformance][transforms]") {
  CHECK_FALSE(tests::found(transformed<Leaky>(), "causal").empty());
  static const Exemption less[] = {{"causal", "", "it rounds", 1e-3}}, enough[] = {{"causal", "", "as published", 2}};
  const auto found = said(transformed<Leaky>(less), "causal", Verdict::kFailed);
  tests::check_mentions(found, ", 0.001 allowed: ");
  tests::check_mentions(found, "exempt up to 0.001: it rounds");
  tests::check_mentions(said(transformed<Leaky>(enough), "causal", Verdict::kPassed), "exempt up to 2: as published");
  CHECK(said(transformed<NoNumber>(enough), "causal", Verdict::kFailed).starts_with("wrong"));
}
