// Attentions that request a fused form use it, and give the same values and gradients as without it, compared in float64.
#include <algorithm>

#include "core/kernels/choice.h"
#include "tests/kernels/mixed.h"
#include "tests/plugins/attention.h"
#include "tests/support/catch.h"

using namespace ablate::test;
using ablate::Tensor;

namespace {

constexpr std::int64_t kWide = 64, kTokens = 100;

enum class Takes { kNever, kWithAvx512, kAlways };  ///< when fused forms other than projections are used

struct Case {
  std::string plugin;
  nlohmann::json parameters;
  bool causal = true;
  Takes takes = Takes::kAlways;
  bool segments = causal;  ///< a state is carried from segment to segment
  bool few = false;        ///< one item of kFew tokens: LibTorch computes projections, and only other forms are fused
  bool rounds = true;      ///< the plugin's own fused form has mixed products; false: only fused projections have them
};

constexpr std::int64_t kFew = 40;

const std::vector<Case> kCases = {
    {"linear", {}, false},
    {"performer", {}, false},
    {"retention", {}},
    {"gated-linear", {}},
    {"mamba2", {}},
    {"delta", {}},
    {"delta", {{"decay", "learned"}, {"gate", true}}},
    {"delta", {{"householder_steps", 2}, {"negative_eigenvalues", true}, {"convolution", 0}}},
    {"delta", {{"decay", "channel"}, {"convolution", 0}, {"norm", false}}, true, Takes::kNever},
    {"delta", {{"erase", "head"}, {"convolution", 0}, {"norm", false}}, true, Takes::kNever},
    // Here only a norm or a convolution is fused. Other forms are not, because their number of channels is no multiple of 16.
    {"delta",
     {{"erase", "head"}, {"householder_steps", 2}, {"key_width", 0.125}, {"value_width", 0.125}},
     true,
     Takes::kAlways,
     true,
     false,
     false},
    {"mamba2", {{"state", 8}}},
    {"linear", {{"convolution", 4}}},
    // The sums of these plugins do not decay, so only AVX-512 makes the fused form faster.
    {"linear", {}, true, Takes::kWithAvx512},
    {"linear", {{"normaliser", "length"}}, true, Takes::kWithAvx512},
    {"based", {}, true, Takes::kWithAvx512},
    {"rfa", {{"gate", false}}, true, Takes::kWithAvx512},
    {"rfa", {}},
    {"performer", {}},
    // Softmax uses its fused form if projections use fused forms.
    {"softmax", {}, false, Takes::kNever, false, true},
    {"softmax", {}, true, Takes::kNever, false, true},
    {"softmax", {{"key_value_heads", 1}}, true, Takes::kNever, false, true},
    {"softmax", {{"latent", 32}, {"qk_norm", true}, {"gate", true}}, false, Takes::kNever, false, true},
    {"linformer", {{"slots", 32}}, false, Takes::kNever, false, true},
    {"set", {{"points", 40}}, false, Takes::kNever, false, true},
    {"compressed", {{"rate", "1/4"}, {"compression", {{"plugin", "segment-mean"}}}}, false, Takes::kNever, false, true},
};

/// Runs the tokens at once, or segment by segment.
Tensor outputs_of(ablate::Attention& attention, const Tensor& x, const Tensor& mask, bool segments) {
  if (!segments) return run(attention, {x, {}, mask});
  std::vector<Tensor> outputs;
  auto state = attention.initial_state(x.size(0));
  std::int64_t begin = 0;
  for (const std::int64_t count : {40, 2, 41, 17}) {
    auto result = pass(attention, {x.narrow(1, begin, count), {}, mask.narrow(1, begin, count), state});
    outputs.push_back(result.output);
    state = result.state;
    begin += count;
  }
  return ablate::cat(outputs, 1);
}

/// Returns gradients of all parameters and of the tokens, then the outputs.
std::vector<Tensor> results_of(ablate::Attention& attention, const Tensor& tokens, const Tensor& mask, bool segments) {
  const auto x = tokens.detach().requires_grad_();
  const auto y = outputs_of(attention, x, mask, segments);
  const auto weights = normal({x.size(0), x.size(1), kWide}, 9).to(y.scalar_type()) * mask.unsqueeze(-1);
  auto all = gradients(attention, (y * weights).sum(), {x});
  all.push_back((y * mask.unsqueeze(-1)).detach());
  return all;
}

/// Returns relative(), but 1e-3 * distance() for tensors of 0. A bias of keys changes no softmax, so its gradient is rounding.
double off(const std::vector<Tensor>& found, const std::vector<Tensor>& exact) {
  double most = found.size() == exact.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(found.size(), exact.size()); ++i) {
    const bool none = exact[i].abs().max().item<double>() < 1e-9;
    most = std::max(most, none ? 1e-3 * distance(found[i].to(ablate::kDouble), exact[i]) : relative({found[i]}, {exact[i]}));
  }
  return most;
}

}  // namespace

TEST_CASE("plugins use their fused forms, which give the same results as plain operators") {
  const auto all = normal({3, kTokens, kWide}, 1);
  for (const auto& of : kCases)
    for (const bool segments : {false, true}) {
      if (segments && !of.segments) continue;
      INFO(of.plugin << " " << of.parameters.dump() << (segments ? " by segments" : ""));
      const auto x = of.few ? all.narrow(0, 0, 1).narrow(1, 0, kFew) : all;
      const auto mask = of.few ? mask_of(kFew, {33}) : mask_of(kTokens, {kTokens, 71, 5});
      const auto parameters = of.parameters.is_null() ? nlohmann::json::object() : of.parameters;
      const auto made = [&](bool fused) {
        ablate::SharedTensors shared;
        const ablate::AttentionPlace place{
            .d_model = kWide, .max_length = 200, .causal = of.causal, .carries = segments, .fused = fused};
        auto attention = ablate::make_attention(ablate::plugin_from_json(section(of.plugin, parameters)), place, find_plugin,
                                                ablate::make_generator(3), shared);
        attention->eval();
        return attention;
      };
      const auto exact = results_of(*in_double(made(false)), x, mask, segments);
      const auto fused = results_of(*made(true), x.to(ablate::kFloat), mask, segments);
      const auto plain = results_of(*made(false), x.to(ablate::kFloat), mask, segments);
      CHECK(off(plain, exact) < 3e-5);
      CHECK(off(fused, exact) < 3e-5);
      const auto instructions = ablate::kernels::instructions();
      const bool projected = ablate::kernels::tiles_outrun_products();  // if so, all plugins use fused projections or softmax
      const bool own =
          of.takes == Takes::kWithAvx512 ? instructions == "avx512" : of.takes == Takes::kAlways && !instructions.empty();
      // Undecayed sums that start at 0 may equal plain sums bit by bit.
      const bool may_meet = !projected && own && of.takes == Takes::kWithAvx512 && !segments;
      if (!may_meet)
        CHECK(std::ranges::equal(fused, plain, [](const Tensor& a, const Tensor& b) { return a.equal(b); }) !=
              (own || projected));
      if (ablate::kernels::mixed_instructions().empty() || !(own || projected)) continue;
      const Mixed mixed;
      const auto rounded = results_of(*made(true), x.to(ablate::kFloat), mask, segments);
      CHECK(off(rounded, exact) < 0.1);                               // the largest error is in gradients that nearly cancel
      if (of.rounds || projected) CHECK(off(rounded, exact) > 1e-4);  // some number is rounded
    }
}
