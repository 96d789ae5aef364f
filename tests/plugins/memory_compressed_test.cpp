// `compressed` over `convolution` against memory-compressed attention (Liu et al. 2018), as in the paper.
#include <ATen/ops/avg_pool1d.h>
#include <ATen/ops/conv1d.h>

#include "tests/plugins/masked.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kHeads = 4;

std::shared_ptr<ablate::Attention> memory_compressed(bool causal) {
  return make(section("compressed", {{"heads", kHeads}, {"rate", "1/3"}, {"compression", {{"plugin", "convolution"}}}}), 1,
              {.causal = causal});
}

constexpr std::int64_t kFactor = 3;  // from the paper: kernels of 3 tokens at a stride of 3

/// Variants of expected(). The defaults are correct; any other value is a fault.
struct Wrong {
  std::int64_t early = 0;  ///< number of positions by which a slot is seen too early
  bool same = true;        ///< true: one convolution for keys and values; false: values are means of three tokens
};

/// Computes one item: projects queries, keys and values, and applies a strided convolution to keys and values, with zeros
/// after their end. Applies softmax attention to the results (Liu et al. 2018, section 4.2.3).
Tensor expected(const ablate::Attention& attention, const Tensor& x, bool causal, const Wrong& wrong = {}) {
  const auto n = x.size(0), width = x.size(1), d = width / kHeads, slots = (n + kFactor - 1) / kFactor;
  const auto filter = parameter(attention, "compression.weight").view({width, kFactor, d}).transpose(1, 2);
  const auto bias = parameter(attention, "compression.bias").view({width});
  const ablate::IntArrayRef stride = kFactor;
  const std::int64_t padding = 0, dilation = 1;
  const auto compressed = [&](const std::string& name, bool convolved) {
    const auto all = ablate::pad(layer(attention, name, x).t().unsqueeze(0), {0, slots * kFactor - n});
    const auto y =
        convolved ? at::conv1d(all, filter, bias, stride, ablate::IntArrayRef(padding), ablate::IntArrayRef(dilation), kHeads)
                  : at::avg_pool1d(all, stride);
    return by_head(y[0].t(), kHeads);
  };
  const auto q = by_head(layer(attention, "query", x), kHeads), k = compressed("key", true),
             v = compressed("value", wrong.same);
  // Number of tokens of each slot. This differs from the paper if n is no multiple of 3.
  const auto tokens = (n - ablate::arange(slots, ablate::kDouble) * kFactor).clamp_max(kFactor);
  const auto scores = q.matmul(k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d)) + tokens.log();
  const auto seen = pairs(n, [&](std::int64_t i, std::int64_t j) {
                      return j < slots && (!causal || (j + 1) * kFactor - 1 - wrong.early <= i);
                    }).narrow(1, 0, slots);
  return joined_heads(attention, read_seen(scores, v, seen));
}

}  // namespace

TEST_CASE("compressed over convolution equals memory-compressed attention, causal and not, with gradients") {
  for (const bool causal : {false, true})
    for (const std::int64_t n : {1, 2, 3, 9, 11, 30}) {
      const auto attention = memory_compressed(causal);
      const auto oracle = [&](const Tensor& x) { return expected(*attention, x, causal); };
      INFO("causal " << causal << ", n " << n);
      const auto off = off_by(*attention, random_tokens(2, n, 2), oracle);
      CHECK(off.output < 1e-12);
      CHECK(off.gradient < 1e-11);
      const auto off_cut = off_padded(*attention, random_tokens(3, n + 4, 2), {n + 4, n, 0}, oracle);
      CHECK(off_cut.output < 1e-12);
      CHECK(off_cut.gradient < 1e-11);
    }
}

TEST_CASE("memory-compressed attention differs from similar wrong variants") {
  const auto attention = memory_compressed(true);
  const auto x = random_tokens(1, 20, 2);
  const auto output = run(*attention, {x})[0];
  CHECK(distance(output, expected(*attention, x[0], true)) < 1e-12);
  for (const Wrong& wrong : {Wrong{.early = 1}, Wrong{.early = -1}, Wrong{.same = false}})
    CHECK(distance(output, expected(*attention, x[0], true, wrong)) > 1e-3);
}
