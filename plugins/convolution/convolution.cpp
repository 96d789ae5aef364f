// A strided convolution (Compressive Transformer, Rae et al. 2020; memory-compressed attention, Liu et al. 2018): slot j is a
// learned linear map of the tokens in segment j. A segment is as long as the stride.
#include <cmath>
#include <stdexcept>
#include <string>

#include "ablate/landmarks.h"
#include "ablate/segments.h"

namespace {

using ablate::Memory;
using ablate::Tensor;

class Convolution final : public ablate::LandmarkCompression {
 public:
  explicit Convolution(const ablate::CompressionContext& context) : LandmarkCompression(context) {
    const auto& rate = slots().rate;
    if (rate.numerator != 1)
      throw std::invalid_argument("a rate of " + std::to_string(rate.numerator) + "/" + std::to_string(rate.denominator) +
                                  ": a convolution's stride is a whole number of tokens; choose a rate of 1/k");
    const auto width = rate.denominator * context.d_head;
    const double bound = 1 / std::sqrt(static_cast<double>(width));
    const auto uniform = [&](ablate::IntArrayRef shape) {
      return ablate::empty(shape).uniform_(-bound, bound, context.generator);
    };
    weight_ = register_parameter("weight", uniform({context.heads, context.d_head, width}));
    bias_ = register_parameter("bias", uniform({context.heads, 1, context.d_head}));
  }

 private:
  Memory do_write(const ablate::WriteInput& input) override {
    const auto n = input.keys.size(2);
    if (input.keys.size(1) != weight_.size(0) || input.keys.size(3) != weight_.size(1))
      throw std::invalid_argument("convolution was made for " + std::to_string(weight_.size(0)) + " heads of " +
                                  std::to_string(weight_.size(1)) + " channels, and was given " +
                                  std::to_string(input.keys.size(1)) + " of " + std::to_string(input.keys.size(3)));
    const ablate::Segments segments(slots(), n, input.mask, input.keys.options());
    const auto tokens = segments.tokens();
    // A last segment that is too short is padded with zeros, as if zeros followed the sequence.
    const auto convolved = [&](const Tensor& x) {
      const auto y = segments.of(x).flatten(3).matmul(weight_.transpose(-1, -2)) + bias_;
      return y.masked_fill((tokens == 0).unsqueeze(-1), 0);
    };
    return {.keys = convolved(input.keys),
            .values = convolved(input.values),
            .mass = tokens.expand({input.keys.size(0), -1, -1}).to(input.keys.scalar_type()),
            .slots = ablate::existing_slots(slots(), input.mask),
            .last = ablate::segment_ends(slots(), n, input.keys.options())};
  }

  Tensor weight_;  // [heads, d_head, stride * d_head], shared by keys and values
  Tensor bias_;    // [heads, 1, d_head]
};

}  // namespace

ABLATE_COMPRESSION(Convolution,
                   {.id = "convolution",
                    .version = "1.0.0",
                    .summary = "a learned convolution whose stride is its length; rates 1/k",
                    .paper = "Rae et al. 2020, arXiv 1911.05507, section 3.2; Liu et al. 2018, arXiv 1801.10198, section 4.2.3",
                    .capabilities = {
                        .slots_have_keys = true, .causal_reads = true, .beside_tokens = true, .half_precision = true}})
