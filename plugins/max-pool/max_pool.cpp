// Max pooling (Compressive Transformer, Rae et al. 2020): slot j is, per channel, the maximum of the tokens in segment j.
#include <limits>

#include "ablate/landmarks.h"
#include "ablate/segments.h"

namespace {

using ablate::Memory;
using ablate::Tensor;

class MaxPool final : public ablate::LandmarkCompression {
 public:
  using LandmarkCompression::LandmarkCompression;

 private:
  Memory do_write(const ablate::WriteInput& input) override {
    const auto n = input.keys.size(2);
    const ablate::Segments segments(slots(), n, input.mask, input.keys.options());
    const auto tokens = segments.tokens(), none = segments.there().logical_not().unsqueeze(-1);
    const auto largest = [&](const Tensor& x) {
      // Missing tokens must not exceed any real token. A slot without tokens is 0.
      const auto most = segments.of(x).masked_fill(none, -std::numeric_limits<double>::infinity()).amax(3);
      return most.masked_fill((tokens == 0).unsqueeze(-1), 0);
    };
    return {.keys = largest(input.keys),
            .values = largest(input.values),
            .mass = tokens.expand({input.keys.size(0), -1, -1}).to(input.keys.scalar_type()),
            .slots = ablate::existing_slots(slots(), input.mask),
            .last = ablate::segment_ends(slots(), n, input.keys.options())};
  }
};

}  // namespace

ABLATE_COMPRESSION(MaxPool, {.id = "max-pool",
                             .version = "1.0.0",
                             .summary = "the maximum of each channel over a segment of neighbouring tokens",
                             .paper = "Rae et al. 2020, Compressive Transformer, arXiv 1911.05507, section 3.2",
                             .capabilities = {.slots_have_keys = true,
                                              .averages = true,
                                              .lossless_at_rate_1 = true,
                                              .causal_reads = true,
                                              .fixed_slots = true,
                                              .beside_tokens = true,
                                              .half_precision = true}})
