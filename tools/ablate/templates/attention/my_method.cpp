// my-method, an attention: so far the scaled dot product with a learned temperature for each head. Your idea goes into
// attend(); what it has to keep to is in ablate/headwise.h and ablate/attention.h, and `ablate check` tells whether it does.
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
  /// where nothing is padded; and more, as the layer's input and what is carried from segment to segment.
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    const auto scale = log_temperature_.exp() * std::sqrt(static_cast<double>(d_head()));
    const auto scores = input.q.matmul(input.k.transpose(-1, -2)) / scale;  // [batch, heads, n, keys]
    if (!input.mask.defined()) return {.values = scores.softmax(-1).matmul(input.v)};
    // A padded key takes no part, and where all are padded the result is 0.
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
                            .capabilities = {.key_padding = true,      // promises: each is checked, and what is not
                                             .cross_attention = true,  // promised is never asked for
                                             .rotary = true,
                                             .time_exponent = 2,
                                             .memory_exponent = 2},
                            .parameters = parameters})
