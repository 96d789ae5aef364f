// my-method, an attention: for now a scaled dot product with a learned temperature for each head. Put your idea into attend().
// ablate/headwise.h and ablate/attention.h state its contract, and `ablate check` tests it.
#include <cmath>
#include <limits>

#include "ablate/headwise.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::real("temperature", "1", {0.01, 100}, "divides the scores, at the start; learned, one for each head"),
};

class MyMethod final : public ablate::HeadwiseAttention {
 public:
  explicit MyMethod(const ablate::AttentionContext& context)
      : ablate::HeadwiseAttention(context, context.parameters.integer("heads")) {
    const double start = std::log(context.parameters.real("temperature"));
    log_temperature_ = register_parameter("log_temperature", ablate::full({heads(), 1, 1}, start));
  }

 private:
  /// input.q [batch, heads, n, d_head], k and v [batch, heads, keys, d_head], mask [batch, keys], true for a token, undefined
  /// without padding. `input` also has the layer's input and the state that is carried from segment to segment.
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    const auto scale = log_temperature_.exp() * std::sqrt(static_cast<double>(d_head()));
    const auto scores = input.q.matmul(input.k.transpose(-1, -2)) / scale;  // [batch, heads, n, keys]
    if (!input.mask.defined()) return {.values = scores.softmax(-1).matmul(input.v)};
    // Padded keys have no weight; the result is 0 if all keys are padded.
    const auto padded = input.mask.logical_not().unsqueeze(1).unsqueeze(1);  // [batch, 1, 1, keys]
    const auto weights = scores.masked_fill(padded, std::numeric_limits<float>::lowest()).softmax(-1);
    return {.values = weights.masked_fill(padded, 0).matmul(input.v)};
  }

  ablate::Tensor log_temperature_;
};

}  // namespace

ABLATE_ATTENTION(MyMethod, {.id = "my-method",
                            .version = "0.1.0",
                            .summary = "scaled dot product with a learned temperature",
                            .paper = "",
                            .capabilities = {.key_padding = true,      // promises: each is checked. The host never
                                             .cross_attention = true,  // uses an ability without a promise.
                                             .rotary = true,
                                             .time_exponent = 2,
                                             .memory_exponent = 2},
                            .parameters = parameters})
