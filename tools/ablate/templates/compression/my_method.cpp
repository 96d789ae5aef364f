// my-method, a compression: for now the mean of each segment, with a learned importance of each token. Put your idea into
// do_write(). ablate/compression.h states its contract, and `ablate check` tests it.
#include "ablate/landmarks.h"
#include "ablate/padding.h"

namespace {

constexpr ablate::Parameter parameters[] = {
    ablate::real("contrast", "1", {0, 10}, "a token weighs between exp(-contrast) and exp(contrast)"),
};

class MyMethod final : public ablate::LandmarkCompression {
 public:
  explicit MyMethod(const ablate::CompressionContext& context)
      : LandmarkCompression(context), contrast_(context.parameters.real("contrast")) {
    const auto start = 0.1 * ablate::randn({context.heads, context.d_head, 1}, context.generator);
    importance_ = register_parameter("importance", start);
  }

 private:
  /// Compresses keys and values [batch, heads, n, d_head] into slots().of(n) landmarks. mask [batch, n]: true for a token, or
  /// undefined.
  ablate::Memory do_write(const ablate::WriteInput& input) override {
    const auto& mask = input.mask;
    const auto k = ablate::clear_padding(input.keys, mask), v = ablate::clear_padding(input.values, mask);
    const auto batch = k.size(0), n = k.size(2), count = slots().of(n);
    // Membership of tokens in slots: [batch or 1, 1, slots, n], 1 for a member. Padding belongs to no slot.
    const auto position = ablate::arange(n, k.options().dtype(ablate::kLong));
    const auto slot = (position * slots().rate.numerator).floor_divide(slots().rate.denominator);
    auto member = slot.eq(ablate::arange(count, slot.options()).unsqueeze(-1)).to(k.scalar_type()).view({1, 1, count, n});
    if (mask.defined()) member = member * mask.view({batch, 1, 1, n});
    const auto weight = (contrast_ * k.matmul(importance_).tanh()).exp();  // [batch, heads, n, 1]
    const auto total = member.matmul(weight).clamp_min(1e-6);              // [batch, heads, slots, 1]
    return {.keys = member.matmul(weight * k) / total,
            .values = member.matmul(weight * v) / total,
            .mass = member.sum(-1).expand({batch, 1, count}),  // number of tokens that a landmark represents
            .slots = ablate::existing_slots(slots(), mask)};
  }

  double contrast_;
  ablate::Tensor importance_;
};

}  // namespace

ABLATE_COMPRESSION(MyMethod, {.id = "my-method",
                              .version = "0.1.0",
                              .summary = "segment means, weighted by a learned importance",
                              .paper = "",
                              .capabilities = {.slots_have_keys = true,  // promises: each is checked
                                               .averages = true,
                                               .lossless_at_rate_1 = true,
                                               .time_exponent = 2,  // `member` is a [slots, n] matrix
                                               .memory_exponent = 2},
                              .parameters = parameters})
