// Learned mixtures of positions (Linformer, Wang et al. 2020): slot j is sum_p E_jp x_p, the same E for keys, values and heads.
#include <cmath>

#include "ablate/landmarks.h"
#include "ablate/padding.h"

namespace {

using ablate::Memory;
using ablate::Tensor;

class Projection final : public ablate::LandmarkCompression {
 public:
  explicit Projection(const ablate::CompressionContext& context) : LandmarkCompression(context) {
    const double bound = 1 / std::sqrt(static_cast<double>(context.max_length));
    weight_ = register_parameter(
        "weight",
        ablate::empty({slots().of(context.max_length), context.max_length}).uniform_(-bound, bound, context.generator));
  }

 private:
  Memory do_write(const ablate::WriteInput& input) override {
    const auto n = input.keys.size(2), count = slots().of(n);
    const auto e = weight_.narrow(0, 0, count).narrow(1, 0, n);
    Memory memory;
    memory.slots = ablate::existing_slots(slots(), input.mask);
    // Every existing slot counts once, as published. With a fixed number of slots, all slots exist in an item with a token.
    auto there = memory.slots;
    if (!there.defined() && input.mask.defined()) there = input.mask.any(1).view({-1, 1, 1}).expand({-1, -1, count});
    const auto mixed = [&](const Tensor& x) {
      const auto y = e.matmul(ablate::clear_padding(x, input.mask));
      return there.defined() ? y.masked_fill(there.logical_not().unsqueeze(-1), 0) : y;
    };
    memory.keys = mixed(input.keys);
    memory.values = mixed(input.values);
    memory.mass = there.defined() ? there.to(input.keys.scalar_type())
                                  : ablate::ones({input.keys.size(0), 1, count}, input.keys.options().requires_grad(false));
    return memory;
  }

  Tensor weight_;  // E, [slots.of(max_length), max_length]
};

}  // namespace

ABLATE_COMPRESSION(Projection,
                   {.id = "projection",
                    .version = "1.0.0",
                    .summary = "learned mixtures of the sequence's positions, one matrix for keys, values and heads",
                    .paper = "Wang et al. 2020, Linformer, arXiv 2006.04768, section 4",
                    .capabilities = {.slots_have_keys = true,
                                     .fixed_slots = true,
                                     .beside_tokens = true,
                                     .half_precision = true,
                                     .time_exponent = 2,
                                     .memory_exponent = 2}})
