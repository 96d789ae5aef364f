// my-method, an attention: so far the scaled dot product with a learned temperature for each head. Your idea goes into
// attend(); what it has to keep to is in ablate/headwise.h and ablate/attention.h, and `ablate check` tells whether it does.
#include <ATen/ATen.h>

#include <cmath>
#include <limits>

#include "ablate/headwise.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::real("temperature", "1", {0.01, 100}, "divides the scores, at the start; learned, one for each head"),
};

class MyMethod : public ablate::HeadwiseAttention {
 public:
  explicit MyMethod(const ablate::AttentionContext& context)
      : ablate::HeadwiseAttention(context, context.parameters.integer("heads")) {
    const double start = std::log(context.parameters.real("temperature"));
    log_temperature_ = register_parameter("log_temperature", torch::full({heads(), 1, 1}, start));
  }

  /// queries [batch, heads, n, d_head]; keys, values [batch, heads, n_context, d_head]; the result is like the queries.
  /// mask [batch, n_context], true for a token; undefined where nothing is padded.
  torch::Tensor attend(const torch::Tensor& queries, const torch::Tensor& keys, const torch::Tensor& values,
                       const torch::Tensor& mask) override {
    const auto scale = log_temperature_.exp() * std::sqrt(static_cast<double>(d_head()));
    const auto scores = queries.matmul(keys.transpose(-1, -2)) / scale;  // [batch, heads, n, n_context]
    if (!mask.defined()) return scores.softmax(-1).matmul(values);
    // A padded key takes no part, and where all are padded the result is 0.
    const auto padded = mask.logical_not().unsqueeze(1).unsqueeze(1);  // [batch, 1, 1, n_context]
    const auto weights = scores.masked_fill(padded, std::numeric_limits<float>::lowest()).softmax(-1);
    return weights.masked_fill(padded, 0).matmul(values);
  }

 private:
  torch::Tensor log_temperature_;
};

}  // namespace

ABLATE_ATTENTION(MyMethod, {.id = "my-method",
                            .version = "0.1.0",
                            .summary = "scaled dot product with a learned temperature",
                            .paper = "",
                            .capabilities = {.key_padding = true,      // promises: each is checked, and what is not
                                             .cross_attention = true,  // promised is never asked for
                                             .time_exponent = 2,
                                             .memory_exponent = 2},
                            .parameters = parameters})
