// Linformer (Wang et al. 2020): keys and values are projected along the sequence, n tokens to k slots, and queries attend to
// the slots.
#include <cmath>
#include <limits>

#include "ablate/choices.h"
#include "ablate/headwise.h"
#include "ablate/padding.h"
#include "ablate/softmax_attention.h"

namespace {

using ablate::Capabilities;
using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Tensor;

enum class Projection { kLinear, kConvolution, kMean, kMax };
constexpr auto kProjections = ablate::choices<Projection>({{"linear", Projection::kLinear},
                                                           {"convolution", Projection::kConvolution},
                                                           {"mean", Projection::kMean},
                                                           {"max", Projection::kMax}});
bool learns(Projection form) { return form == Projection::kLinear || form == Projection::kConvolution; }

enum class Sharing { kNone, kHeads, kKeyValue, kLayers };
constexpr auto kSharings = ablate::choices<Sharing>(
    {{"none", Sharing::kNone}, {"heads", Sharing::kHeads}, {"key-value", Sharing::kKeyValue}, {"layers", Sharing::kLayers}});

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("slots", "256", {1, 65536}, "k: slots for a sequence of the model's length", "slots"),
    ablate::text("projection", "\"linear\"", kProjections,
                 "linear: a matrix [n, k]; the others take n / k neighbours together, convolution with learned weights"),
    ablate::text("sharing", "\"none\"", kSharings,
                 "for linear and convolution; heads: all heads of a layer share E and share F; key-value: E is also F; layers: "
                 "all layers share it, too"),
};

/// Weights sum to 1 if slots are averages of tokens. A learned projection does not average.
Capabilities promises(const Capabilities& declared, const ablate::Values& values, std::span<const Capabilities>) {
  auto can = declared;
  can.averages = !learns(kProjections.of(values, "projection"));
  return can;
}

/// Returns E^T x along n: [batch, heads, k, d].
/// @param e [heads or 1, at least n, k]
/// @param x [batch, heads, n, d]
Tensor projected(const Tensor& e, const Tensor& x) {
  // One product for the whole batch, so that e is not copied for each item.
  const auto groups = e.size(0), batch = x.size(0), of_group = x.size(1) / groups;
  const auto columns = x.unflatten(1, {groups, of_group}).permute({1, 3, 0, 2, 4}).flatten(2);  // [groups, n, batch * ...]
  const auto slots = ablate::bmm(e.narrow(1, 0, x.size(2)).transpose(1, 2), columns);
  return slots.unflatten(2, {batch, of_group, -1}).permute({2, 0, 3, 1, 4}).flatten(1, 2);
}

class Linformer final : public ablate::HeadwiseAttention {
 public:
  explicit Linformer(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        form_(kProjections.of(context.parameters, "projection")),
        stride_((context.max_length + context.parameters.integer("slots") - 1) / context.parameters.integer("slots")) {
    if (!learns(form_)) return;
    const auto sharing = kSharings.of(context.parameters, "sharing");
    const auto groups = sharing == Sharing::kNone ? heads() : 1;
    const auto tokens = form_ == Projection::kLinear ? context.max_length : stride_;
    const auto make = [&] {
      const double bound = 1 / std::sqrt(static_cast<double>(tokens));
      return ablate::empty({groups, tokens, form_ == Projection::kLinear ? context.parameters.integer("slots") : 1})
          .uniform_(-bound, bound, context.generator);
    };
    if (sharing == Sharing::kLayers)
      of_keys_ = context.parts.shared("projection", make);
    else
      of_keys_ = register_parameter(sharing == Sharing::kKeyValue ? "projection" : "key_projection", make());
    of_values_ = sharing == Sharing::kLayers || sharing == Sharing::kKeyValue ? of_keys_
                                                                              : register_parameter("value_projection", make());
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    if (form_ == Projection::kLinear)
      // Padding is 0 in keys and values, so it does not change any slot. An item of n tokens uses only the first n rows of E.
      return {.values = ablate::softmax_attention(input.q, projected(of_keys_, input.k), projected(of_values_, input.v), {},
                                                  false, fused())};
    const auto tokens = in_slots(input.mask.defined() ? input.mask.view({-1, 1, input.mask.size(1), 1}) : Tensor());
    const auto exists = tokens.defined() ? tokens.any(3).squeeze(-1).unsqueeze(2) : Tensor();  // [batch, 1, 1, slots]
    // An item without tokens may attend to all slots: their values are 0, so it reads 0.
    const auto seen = exists.defined() ? exists.logical_or(exists.any(-1, true).logical_not()) : Tensor();
    return {.values = ablate::softmax_attention(input.q, pooled(input.k, of_keys_, tokens), pooled(input.v, of_values_, tokens),
                                                seen, false, fused())};
  }

  /// [batch, heads, n, d] -> [batch, heads, slots, stride, d], padded with 0 (false) at the end.
  Tensor in_slots(const Tensor& x) const {
    if (!x.defined()) return {};
    const auto missing = (stride_ - x.size(2) % stride_) % stride_;
    return ablate::pad(x, {0, 0, 0, missing}).unflatten(2, {-1, stride_});
  }

  /// @param weights [heads or 1, stride, 1], or undefined
  /// @param tokens [batch, 1, slots, stride, 1] bool, or undefined: all except the padding of the last
  /// slot
  Tensor pooled(const Tensor& x, const Tensor& weights, const Tensor& tokens) const {
    const auto all = in_slots(x);
    if (weights.defined()) return weights.transpose(1, 2).unsqueeze(1).matmul(all).squeeze(3);
    const auto real = tokens.defined()
                          ? tokens
                          : in_slots(ablate::ones({1, 1, x.size(2), 1}, x.options().dtype(ablate::kBool).requires_grad(false)));
    if (form_ == Projection::kMean) return all.sum(3) / real.sum(3).clamp_min(1).to(x.scalar_type());
    const auto most = all.masked_fill(real.logical_not(), -std::numeric_limits<double>::infinity()).amax(3);
    return most.masked_fill(real.any(3).logical_not(), 0);
  }

  Projection form_;
  std::int64_t stride_;         ///< tokens per slot, unless the projection is linear
  Tensor of_keys_, of_values_;  ///< E and F: [heads or 1, max_length, k]; for a convolution [heads or 1, stride, 1]
};

}  // namespace

ABLATE_ATTENTION(Linformer,
                 {.id = "linformer",
                  .version = "1.0.0",
                  .summary = "keys and values projected to k slots along the sequence, in linear time",
                  .paper = "Wang et al. 2020, arXiv 2006.04768, Eq. 7 and section 4",
                  .capabilities = {.key_padding = true, .cross_attention = true, .holes = true, .half_precision = true},
                  .parameters = parameters,
                  .promises = promises})
