// A compression with one slot for each segment: the first token of the segment.
#include "ablate/landmarks.h"
#include "ablate/padding.h"

namespace {

class Halves final : public ablate::LandmarkCompression {
 public:
  using LandmarkCompression::LandmarkCompression;

 private:
  ablate::Memory do_write(const ablate::WriteInput& input) override {
    const auto n = input.keys.size(2), count = slots().of(n);
    // The last slot may have no token. Its mass is then 0.
    std::vector<std::int64_t> first(static_cast<std::size_t>(count), n);
    for (std::int64_t place = n - 1; place >= 0; --place) first[static_cast<std::size_t>(slots().rate.slot_of(place))] = place;
    const auto index = ablate::integers(first).to(input.keys.device());
    auto real = (index < n).unsqueeze(0);  // [1 or batch, slots]
    const auto place = index.clamp_max(n - 1);
    if (input.mask.defined()) real = real.logical_and(input.mask.index_select(1, place));
    const auto gone = real.logical_not().unsqueeze(1).unsqueeze(-1);
    const auto take = [&](const ablate::Tensor& x) { return x.index_select(2, place).masked_fill(gone, 0); };
    ablate::Memory memory{.keys = take(input.keys), .values = take(input.values)};
    memory.slots = ablate::existing_slots(slots(), input.mask);
    memory.mass = real.to(input.keys.scalar_type()).unsqueeze(1).expand({input.keys.size(0), 1, count});
    return memory;
  }
};

}  // namespace

ABLATE_COMPRESSION(Halves, {.id = "halves",
                            .version = "1.0.0",
                            .summary = "the first token of each segment",
                            .capabilities = {.slots_have_keys = true, .averages = true, .sparse = true}})
