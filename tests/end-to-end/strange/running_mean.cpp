// An attention with a state: each query reads the mean of all values so far, also of earlier segments.
#include "ablate/headwise.h"

namespace {

class RunningMean final : public ablate::HeadwiseAttention {
 public:
  explicit RunningMean(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, {.heads = 1, .queries = false, .keys = false}), width_(context.width) {}

 private:
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    auto sum = input.v.cumsum(2);  // padded values are 0
    const auto present = input.mask.defined() ? input.mask.to(input.v.scalar_type())
                                              : ablate::ones({input.v.size(0), input.v.size(2)}, input.v.options());
    auto count = present.cumsum(1).unsqueeze(1).unsqueeze(-1);
    if (!input.state.empty()) sum = sum + input.state[0], count = count + input.state[1];
    ablate::HeadOutput result{.values = sum / count.clamp_min(1)};
    if (!input.state.empty()) result.state = {sum.narrow(2, -1 + sum.size(2), 1), count.narrow(2, -1 + count.size(2), 1)};
    return result;
  }
  ablate::AttentionState heads_state(std::int64_t batch) const override {
    const auto options = parameters().front().tensor.options().requires_grad(false);
    return {ablate::zeros({batch, 1, 1, width_}, options), ablate::zeros({batch, 1, 1, 1}, options)};
  }

  std::int64_t width_;
};

}  // namespace

ABLATE_ATTENTION(
    RunningMean,
    {.id = "running-mean",
     .version = "1.0.0",
     .summary = "the mean of all values so far",
     .capabilities = {
         .causal = true, .key_padding = true, .stateful = true, .bidirectional = false, .recurrent = true, .averages = true}})
