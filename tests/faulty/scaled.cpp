// An attention that multiplies its values by a factor whose default is FACTOR. It does not read the factor if scaling is off.
#include <cmath>
#include <limits>

#include "ablate/headwise.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::integer("heads", "2", {1, 64}, "attention heads; must divide model.d_model"),
    ablate::text("scaling", "\"off\"", "off|on", "on: the values are multiplied by factor"),
    ablate::real("factor", FACTOR, {0.01, 100}, "factor of the values if scaling is on"),
};

class Scaled final : public ablate::HeadwiseAttention {
 public:
  explicit Scaled(const ablate::AttentionContext& context)
      : HeadwiseAttention(context, context.parameters.integer("heads")),
        factor_(context.parameters.text("scaling") == "on" ? context.parameters.real("factor") : 1) {}

 private:
  ablate::HeadOutput attend(const ablate::HeadInput& input) override {
    const auto scores = input.q.matmul(input.k.transpose(-1, -2)) / std::sqrt(static_cast<double>(d_head()));
    if (!input.mask.defined()) return {.values = scores.softmax(-1).matmul(input.v) * factor_};
    const auto padded = input.mask.logical_not().unsqueeze(1).unsqueeze(1);
    const auto weights = scores.masked_fill(padded, std::numeric_limits<float>::lowest()).softmax(-1);
    return {.values = weights.masked_fill(padded, 0).matmul(input.v) * factor_};
  }

  double factor_;
};

}  // namespace

ABLATE_ATTENTION(Scaled, {.id = "scaled",
                          .version = "1.0.0",
                          .summary = "a fixture: softmax attention whose values are scaled",
                          .capabilities = {.key_padding = true, .time_exponent = 2, .memory_exponent = 2},
                          .parameters = parameters})
