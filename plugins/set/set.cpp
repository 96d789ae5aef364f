// Induced set attention (Lee et al. 2019): trained points attend to the sequence, and the sequence attends to the results.
#include "ablate/headwise.h"
#include "ablate/softmax_attention.h"

namespace {

using ablate::HeadInput;
using ablate::HeadOutput;
using ablate::Linear;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::integer("points", "32", {1, 65536}, "m: inducing points"),
};

class InducedSetAttention final : public ablate::HeadwiseAttention {
 public:
  explicit InducedSetAttention(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")) {
    const auto width = heads() * d_head();
    // Points have the same scale as projected tokens.
    points_ = register_parameter("points",
                                 ablate::randn({heads(), context.parameters.integer("points"), d_head()}, context.generator));
    point_key_ = register_module("point_key", ablate::make_linear(width, width, true, context.generator));
    point_value_ = register_module("point_value", ablate::make_linear(width, width, true, context.generator));
  }

 private:
  HeadOutput attend(const HeadInput& input) override {
    const auto& mask = input.mask;
    const auto batch = input.k.size(0);
    Tensor seen, empty;
    if (mask.defined()) {
      // An item without tokens may attend to all of its keys. Its output is cleared later, because point_value has a bias.
      const auto any = mask.any(-1, true);
      seen = mask.logical_or(any.logical_not()).unsqueeze(1).unsqueeze(1);
      empty = any.logical_not().view({batch, 1, 1, 1});
    }
    const auto points = points_.unsqueeze(0).expand({batch, -1, -1, -1});
    const auto read = ablate::merge_heads(ablate::softmax_attention(points, input.k, input.v, seen, false, fused()));
    const auto of = [&](const std::shared_ptr<Linear>& projection) {
      return ablate::split_heads(projection->forward(read, fused()), heads());
    };
    const auto values = ablate::softmax_attention(input.q, of(point_key_), of(point_value_), {}, false, fused());
    return {.values = empty.defined() ? values.masked_fill(empty, 0) : values};
  }

  Tensor points_;  ///< [heads, m, d_head]: I W^Q of the paper
  std::shared_ptr<Linear> point_key_, point_value_;
};

}  // namespace

ABLATE_ATTENTION(
    InducedSetAttention,
    {.id = "set",
     .version = "1.0.0",
     .summary = "attention through m trained inducing points, in linear time",
     .paper = "Lee et al. 2019, arXiv 1810.00825, section 3.1, ISAB",
     .capabilities = {.key_padding = true, .cross_attention = true, .holes = true, .averages = true, .half_precision = true},
     .parameters = parameters})
