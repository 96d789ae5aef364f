// Compressions whose slots are scaled sums, which can extend a memory.
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::variant;

enum class Scale { kRight, kNotBrought, kWrongSign, kLeastSum };
/// Sums by random features of keys. The features are divided by the exponential of their largest logarithm.
template <Scale kind>
class Sums final : public Compression {
 public:
  explicit Sums(const CompressionContext& context) : Compression(context) {
    w_ = register_buffer("w", randn({context.heads, slots().of(context.max_length), context.d_head}, context.generator));
  }

 private:
  Tensor logs_of(const Tensor& x, std::int64_t count) const {
    return x.matmul(w_.narrow(1, 0, count).to(x.scalar_type()).transpose(-1, -2));
  }
  Memory do_write(const WriteInput& input) override {
    const auto n = input.keys.size(2), count = slots().of(n);
    Memory memory;
    memory.slots = existing_slots(slots(), input.mask);
    auto gone = zeros({input.keys.size(0), 1, n, 1}, kBool);
    if (input.mask.defined()) gone = input.mask.logical_not().view({-1, 1, n, 1});
    if (memory.slots.defined()) gone = gone.logical_or(memory.slots.logical_not().unsqueeze(2));
    const auto logs = logs_of(clear_padding(input.keys, input.mask), count).masked_fill(gone, -1e30);
    memory.log_scale = logs.detach().amax({2, 3}, true).clamp_min(-1e3);
    const auto phi = (logs - memory.log_scale).exp().masked_fill(gone, 0);
    memory.values = phi.transpose(-1, -2).matmul(clear_padding(input.values, input.mask));
    memory.mass = phi.sum(2);
    if (input.held == nullptr) return memory;
    const auto& held = *input.held;
    const auto scale = memory.log_scale.maximum(held.log_scale);
    const double sign = kind == Scale::kWrongSign ? -1 : 1;
    const auto share = [&](const Tensor& log) {
      return kind == Scale::kNotBrought ? ones_like_of(log) : ((log - scale) * sign).exp();
    };
    memory.values = memory.values * share(memory.log_scale) + held.values * share(held.log_scale);
    memory.mass = memory.mass * share(memory.log_scale).squeeze(-1) + held.mass * share(held.log_scale).squeeze(-1);
    memory.log_scale = scale;
    return memory;
  }
  static Tensor ones_like_of(const Tensor& x) { return zeros_like(x) + 1; }
  ReadOutput do_read(const ReadInput& input) override {
    auto logs = logs_of(input.queries, input.memory.values.size(2));
    if (input.memory.slots.defined()) logs = logs.masked_fill(input.memory.slots.logical_not().unsqueeze(2), -1e30);
    const auto phi = (logs - logs.detach().amax(-1, true)).exp();
    const auto sum = phi.matmul(input.memory.mass.unsqueeze(-1));
    const auto divisor = kind == Scale::kLeastSum ? sum + 1e-3 : sum.masked_fill(sum <= 0, 1);
    return {.values = phi.matmul(input.memory.values) / divisor};
  }
  Tensor w_;
};
constexpr Capabilities kSums = {.fixed_slots = true, .extends = true};

const tests::AddVariants added = {
    {"sums with different scales, added without rescaling", variant<Sums<Scale::kNotBrought>>(kSums), "log scale"},
    {"a scale taken the other way", variant<Sums<Scale::kWrongSign>>(kSums), "log scale"},
    {"a sum that is never 0", variant<Sums<Scale::kLeastSum>>(kSums), "log scale"},
};

}  // namespace

TEST_CASE("sums with a scale are no fault") {
  CHECK(tests::Record().suite(*variant<Sums<Scale::kRight>>(kSums)) == std::set<std::string>{});
}
