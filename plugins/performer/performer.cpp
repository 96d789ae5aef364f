// Performer, FAVOR+ (Choromanski et al. 2021): softmax attention through orthogonal random features, in linear time.
#include <ATen/ops/cummax.h>

#include <limits>

#include "ablate/blocks.h"
#include "ablate/choices.h"
#include "ablate/decayed_sums.h"
#include "ablate/headwise.h"
#include "ablate/kernel_attention.h"
#include "ablate/masked_softmax.h"
#include "ablate/random_features.h"

namespace {

using ablate::AttentionState;
using ablate::Capabilities;
using ablate::FeatureKernel;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

enum class Kernel { kPositive, kHyperbolic, kTrigonometric, kRelu };
constexpr auto kKernels = ablate::choices<Kernel>({{"positive", Kernel::kPositive},
                                                   {"hyperbolic", Kernel::kHyperbolic},
                                                   {"trigonometric", Kernel::kTrigonometric},
                                                   {"relu", Kernel::kRelu}});

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("features", "256", {1, 65536}, "m: feature vectors of a head"),
    ablate::text("kernel", "\"positive\"", kKernels,
                 "features of the softmax kernel; relu: generalised attention, relu(w.x) + 0.001"),
    ablate::boolean("orthogonal", "true",
                    "feature vectors are orthogonal within blocks of a head's channels; false: independent"),
    ablate::integer("redraw", "1000", {0, 1e9}, "optimiser steps between new feature vectors; 0 never draws again", "steps"),
    ablate::integer("error_examples", "0", {0, 65536},
                    "examples of each evaluation batch to compare with exact softmax attention, in quadratic time; 0: none",
                    "examples"),
    ablate::integer("convolution", "0", {0, 64},
                    "tokens of a short convolution of queries, keys and values; 0: none (the paper)", "tokens"),
};

constexpr double kReluLeast = 1e-3;
// Trigonometric weights may sum to nearly 0 or less, which makes the quotient meaningless. By Cauchy and Schwarz the sum is at
// most |phi(q)| |sum of phi(k)|, so the sum is raised to at least this share of that bound.
constexpr double kLeastShare = 1e-3;

constexpr double kNothing = -1e30;  ///< log_scale of a missing key: finite, and below the log_scale of other keys

/// phi(k_j) = features exp(log_scale). log_scale has no gradient.
struct Scaled {
  Tensor features;   ///< [batch, heads, n, m]; 0 for missing tokens
  Tensor log_scale;  ///< [batch, heads, n], or [batch, heads, 1]; kNothing for missing tokens
};

/// Sums over the keys read so far: sum_j phi(k_j) (v_j, 1)^T = sums exp(log_scale).
struct Sums {
  Tensor sums;       ///< [batch, heads, m, d_head + 1]
  Tensor log_scale;  ///< [batch, heads, 1]
};

/// Trigonometric features are not causal: each prefix would need its own bound. Half precision is too coarse for large phases.
Capabilities promises(const Capabilities& declared, const ablate::Values& values, std::span<const Capabilities>) {
  auto can = declared;
  if (kKernels.of(values, "kernel") == Kernel::kTrigonometric)
    can.causal = can.recurrent = can.averages = can.half_precision = false;
  // After a convolution, equal tokens differ if the tokens before them differ. A convolution needs one sequence without gaps.
  if (values.integer("convolution") > 0) can.averages = can.cross_attention = can.holes = false;
  return can;
}

class Performer final : public ablate::HeadwiseAttention {
 public:
  explicit Performer(const ablate::AttentionContext& context)
      : HeadwiseAttention(
            context, {.heads = context.parameters.integer("heads"), .convolution = context.parameters.integer("convolution")}),
        kernel_(kKernels.of(context.parameters, "kernel")),
        error_examples_(context.parameters.integer("error_examples")),
        vectors_(register_module(
            "features", std::make_shared<ablate::FeatureVectors>(heads(), context.parameters.integer("features"), d_head(),
                                                                 context.parameters.integer("redraw"), context.generator,
                                                                 context.parameters.boolean("orthogonal")))) {
    if (error_examples_ > 0 && kernel_ == Kernel::kRelu)
      throw std::invalid_argument("error_examples = " + std::to_string(error_examples_) +
                                  " compares with softmax attention, which kernel = relu does not approximate");
  }

 private:
  Tensor in_one(const ablate::AttentionInput& input, const ablate::Projections& by, bool fused) const override {
    if (causal() || kernel_ != Kernel::kPositive || error_examples_ > 0) return {};
    return ablate::projected_feature_attention(input.queries, input.context, input.mask, by, vectors_->vectors, fused);
  }

  HeadOutput attend(const HeadInput& input) override {
    auto output = approximated(input);
    if (input.measure && error_examples_ > 0) measure_error(input, output);
    return output;
  }

  /// Measures the mean squared error of outputs (the paper's Figure 4), and this error divided by the exact outputs' mean
  /// square. Uses only this segment, because exact attention cannot read the sums carried from earlier segments.
  void measure_error(const HeadInput& input, HeadOutput& output) const {
    const ablate::NoGradGuard none;
    const auto first = [&](const Tensor& x) { return x.defined() ? x.narrow(0, 0, std::min(error_examples_, x.size(0))) : x; };
    auto some = input;
    some.state.clear();
    for (auto* const x : {&some.q, &some.k, &some.v, &some.mask, &some.query_mask}) *x = first(*x);
    const auto n = some.q.size(2), keys = some.k.size(2);
    const auto hidden = ablate::hidden_keys(some.mask, causal(), n, keys, 0, some.q);
    const auto seen = hidden.defined() ? hidden.logical_not() : ablate::mask_or_all({}, keys, some.q);
    const auto exact = ablate::attend_seen(ablate::widened(some.q), ablate::widened(some.k), ablate::widened(some.v), seen);
    const auto real = ablate::mask_or_all(some.query_mask, n, some.q).unsqueeze(1).unsqueeze(-1).expand_as(exact);
    const auto squares = [&](const Tensor& x) {
      return x.to(ablate::kDouble).square().masked_select(real).sum().item<double>();
    };
    const auto count = real.sum().item<std::int64_t>();
    const auto off = squares(approximated(some).values - exact), whole = squares(exact);
    if (count == 0 || whole == 0) return;
    output.metrics = {{"squared_error", off / static_cast<double>(count), ""}, {"relative_squared_error", off / whole, ""}};
  }

  HeadOutput approximated(const HeadInput& input) const {
    if (!input.state.empty() && !input.self) throw std::logic_error("performer: a state needs self-attention");
    const auto type = input.q.scalar_type();
    const auto fit = [&](const Tensor& x) { return x.narrow(2, 0, std::min(x.size(2), input.q.size(2))); };
    // The last channel of the read is the sum of the weights. A causal query reads at most as many keys as there are queries.
    const auto k = causal() ? fit(ablate::widened(input.k)) : ablate::widened(input.k),
               v = causal() ? fit(ablate::widened(input.v)) : ablate::widened(input.v);
    const auto values = ablate::with_ones(v);
    const auto mask = input.mask.defined() ? input.mask.narrow(1, 0, k.size(2)) : Tensor();
    const auto q = features(ablate::widened(input.q), {-1}, {}).features;
    auto sums = sums_before(input, q);
    Tensor read;
    if (causal()) {
      const auto missing = q.size(2) - k.size(2);  // keys that the context lacks if it is shorter than the queries
      const auto keys = features(k, {-1}, mask);
      read = read_causally(
          q, {ablate::pad(keys.features, {0, 0, 0, missing}), ablate::pad(keys.log_scale, {0, missing}, kNothing)},
          ablate::pad(values, {0, 0, 0, missing}), sums);
    } else {
      const auto keys = features(k, {-2, -1}, mask);
      sums = added(sums, {keys.features.transpose(-1, -2).matmul(values), keys.log_scale});
      read = q.matmul(sums.sums);
    }
    HeadOutput output{.values = quotient(read, q, sums).to(type)};
    if (!input.state.empty()) output.state = {sums.sums, sums.log_scale, vectors_->drawn.expand({q.size(0)}).clone()};
    return output;
  }

  /// The state has the sums, their log_scale, and the step at which the feature vectors were drawn. Float32 or wider.
  AttentionState heads_state(std::int64_t batch) const override {
    const auto options = ablate::wide_options(parameters().front().tensor);
    return {ablate::zeros({batch, heads(), columns(), d_head() + 1}, options),
            ablate::full({batch, heads(), 1}, kNothing, options), vectors_->drawn.expand({batch}).clone()};
  }

  void do_step(std::int64_t step, const ablate::Generator&) override { vectors_->on_step(step); }

  std::int64_t columns() const {
    return vectors_->vectors.size(1) * (kernel_ == Kernel::kRelu ? 1 : ablate::columns_of(kernel()));
  }

  Sums sums_before(const HeadInput& input, const Tensor& q) const {
    const auto batch = q.size(0);
    if (input.state.empty()) {
      const auto none = heads_state(batch);
      return {none[0], none[1]};
    }
    // Sums made with earlier feature vectors cannot be read with the current feature vectors, so these sums are cleared.
    const auto stale = (input.state[2] != vectors_->drawn).view({batch, 1, 1});
    return {input.state[0].masked_fill(stale.unsqueeze(-1), 0), input.state[1].masked_fill(stale, kNothing)};
  }

  /// Query i reads the keys 0 to i and the earlier sums, divided by exp(s_i), where s_i is the largest log_scale up to i. So a
  /// later key does not change the scaling of earlier keys. exp(s_i) cancels in the quotient.
  Tensor read_causally(const Tensor& q, const Scaled& keys, const Tensor& v, Sums& sums) const {
    const auto n = q.size(2);
    const auto largest = std::get<0>(at::cummax(ablate::cat({sums.log_scale, keys.log_scale}, 2), 2));
    const auto before = largest.narrow(2, 0, n), now = largest.narrow(2, 1, n);
    const auto k = keys.features * (keys.log_scale - now).exp().unsqueeze(-1);
    auto [values, state] = ablate::decayed_sums(q, k, v, (before - now).unsqueeze(-1), sums.sums, fused());
    sums = {state, largest.narrow(2, n, 1)};
    return values;
  }

  /// Adds two sums at the larger of their scales, so that nothing overflows.
  static Sums added(const Sums& a, const Sums& b) {
    const auto largest = a.log_scale.maximum(b.log_scale);
    const auto share = [&](const Sums& x) { return x.sums * (x.log_scale - largest).exp().unsqueeze(-1); };
    return {share(a) + share(b), largest};
  }

  /// phi(x) divided by its largest exponential along `over`: per token, or per sequence to keep the relative weights of keys.
  /// @param mask [batch, n], or undefined
  /// @return log_scale [batch, heads, n], or [batch, heads, 1]
  Scaled features(const Tensor& x, ablate::IntArrayRef over, const Tensor& mask) const {
    const auto gone = mask.defined() ? mask.logical_not().unsqueeze(1).unsqueeze(-1) : Tensor();
    const auto scaled = x * std::pow(static_cast<double>(x.size(-1)), -0.25);
    Tensor phi, largest;
    if (kernel_ == Kernel::kRelu) {
      phi = scaled.matmul(vectors_->vectors.to(x.scalar_type()).transpose(-1, -2)).relu() + kReluLeast;
      largest = ablate::zeros({x.size(0), x.size(1), over.size() == 1 ? x.size(2) : 1, 1}, x.options().requires_grad(false));
    } else {
      const auto [log, factor] = ablate::log_features(kernel(), scaled, vectors_->vectors.to(x.scalar_type()));
      // Masks all exponents, because an item without keys would otherwise have infinite exponentials and NaN gradients.
      const auto seen = gone.defined() ? log.masked_fill(gone, kNothing) : log;
      largest = seen.detach().amax(over, true);
      phi = (seen - largest).exp();
      if (factor.defined()) phi = phi * factor;
    }
    if (gone.defined()) {
      phi = phi.masked_fill(gone, 0);
      if (over.size() == 1) largest = largest.masked_fill(gone, kNothing);
    }
    return {phi, largest.squeeze(-1)};
  }

  FeatureKernel kernel() const {
    if (kernel_ == Kernel::kPositive) return FeatureKernel::kPositive;
    return kernel_ == Kernel::kHyperbolic ? FeatureKernel::kHyperbolic : FeatureKernel::kTrigonometric;
  }

  /// Returns the weighted mean, or 0 if the weights sum to 0: dividing by infinity makes value and gradients exactly 0.
  Tensor quotient(const Tensor& read, const Tensor& q, const Sums& sums) const {
    auto denominator = read.narrow(3, d_head(), 1);
    if (kernel_ == Kernel::kTrigonometric) {
      const auto mass = sums.sums.narrow(3, d_head(), 1).norm(2, -2, true);
      denominator = denominator.maximum(kLeastShare * q.norm(2, -1, true) * mass);
    }
    const double tiny = read.scalar_type() == ablate::kDouble ? std::sqrt(std::numeric_limits<double>::min())
                                                              : std::sqrt(std::numeric_limits<float>::min());
    return read.narrow(3, 0, d_head()) / denominator.masked_fill(denominator <= tiny, std::numeric_limits<double>::infinity());
  }

  Kernel kernel_;
  std::int64_t error_examples_;
  std::shared_ptr<ablate::FeatureVectors> vectors_;
};

}  // namespace

ABLATE_ATTENTION(Performer, {.id = "performer",
                             .version = "1.1.0",
                             .summary = "softmax attention through orthogonal random features, in linear time",
                             .paper = "Choromanski et al. 2021, arXiv 2009.14794, Eq. 4 to 8 and Algorithm 1",
                             .capabilities = {.causal = true,
                                              .key_padding = true,
                                              .cross_attention = true,
                                              .stateful = true,
                                              .holes = true,
                                              .recurrent = true,
                                              .rotary = true,
                                              .averages = true,
                                              .half_precision = true},
                             .parameters = parameters,
                             .promises = promises})
