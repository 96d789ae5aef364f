// A third party's wrong compression, whose means count padding. If $ABLATE_TEST_BROKEN is set, a mask crashes the compression.
#include <csignal>
#include <cstdlib>

#include "ablate/landmarks.h"
#include "ablate/padding.h"

namespace {

class Broken final : public ablate::LandmarkCompression {
 public:
  explicit Broken(const ablate::CompressionContext& context) : LandmarkCompression(context) {}

 private:
  ablate::Memory do_write(const ablate::WriteInput& input) override {
    if (input.mask.defined() && std::getenv("ABLATE_TEST_BROKEN") != nullptr) std::raise(SIGSEGV);
    const auto k = ablate::clear_padding(input.keys, input.mask), v = ablate::clear_padding(input.values, input.mask);
    const auto n = k.size(2), count = slots().of(n);
    const auto slot = (ablate::arange(n) * slots().rate.numerator).floor_divide(slots().rate.denominator);
    const auto member = slot.eq(ablate::arange(count).unsqueeze(-1)).to(k.scalar_type()).view({1, 1, count, n});
    const auto total = member.sum(-1);
    return {.keys = member.matmul(k) / total.unsqueeze(-1),
            .values = member.matmul(v) / total.unsqueeze(-1),
            .mass = total.expand({k.size(0), 1, count}),
            .slots = ablate::existing_slots(slots(), input.mask)};
  }
};

}  // namespace

ABLATE_COMPRESSION(Broken,
                   {.id = "broken",
                    .version = "1.0.0",
                    .summary = "segment means that count padding",
                    .capabilities = {.slots_have_keys = true, .averages = true, .time_exponent = 2, .memory_exponent = 2}})
