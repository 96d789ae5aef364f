// The suite is only worth something if it fails: compressions with one known fault each.
#include <ATen/ops/constant_pad_nd.h>

#include <set>

#include "ablate/landmarks.h"
#include "ablate/padding.h"
#include "core/conformance/compression_checks.h"
#include "tests/support/catch.h"

namespace {

using ablate::Memory;
using torch::Tensor;

enum class Fault {
  kNone,
  kPaddedZerosCounted,
  kFullSizeForRagged,
  kBatchStatistic,
  kPaddedNaN,
  kOwnRandomness,
  kBufferMoves,
  kUnsaved,
  kShared
};

/// Segment means at any rate by a plain loop, with a fault.
template <Fault fault>
class Means : public ablate::LandmarkCompression {
 public:
  explicit Means(const ablate::CompressionContext& context) : rate_(context.rate) {
    calls_ = register_buffer("calls", torch::zeros({1}));
    if (fault == Fault::kUnsaved) features_ = torch::rand({}, context.generator);
    if (fault == Fault::kShared) {
      static const Tensor shared = torch::ones({});
      features_ = register_buffer("shared", shared);
    }
    noise_ = fault == Fault::kOwnRandomness ? torch::randn({1}).item<double>() : 0;
  }

  Memory write(const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    const auto n = keys.size(2), slots = rate_.slots(n);
    const auto mean = [&](Tensor x, Tensor& mass) {
      if (fault != Fault::kPaddedNaN)
        x = ablate::clear_padding(x, mask);
      else if (mask.defined())
        x = x * mask.unsqueeze(1).unsqueeze(-1);
      if (fault == Fault::kBatchStatistic) x = x - 1e-3 * x.mean(at::IntArrayRef{0}, true);
      const auto tokens =
          mask.defined() ? mask.to(x.scalar_type()).view({-1, 1, n, 1}) : torch::ones({x.size(0), 1, n, 1}, x.options());
      std::vector<Tensor> sums, counts;
      for (std::int64_t j = 0; j < slots; ++j) {
        std::vector<std::int64_t> members;
        for (std::int64_t p = 0; p < n; ++p)
          if (rate_.slot_of(p) == j) members.push_back(p);
        const auto index = torch::tensor(members, torch::kLong);
        sums.push_back(x.index_select(2, index).sum(2));
        counts.push_back(tokens.index_select(2, index).sum(2));
        if (fault == Fault::kFullSizeForRagged && rate_.numerator == 1)
          sums.back() = sums.back() * (counts.back().clamp_min(1) / static_cast<double>(rate_.denominator));
        if (fault == Fault::kPaddedZerosCounted)
          sums.back() = sums.back() * (counts.back().clamp_min(1) / static_cast<double>(members.size()));
      }
      const auto count = torch::stack(counts, 2);
      mass = count.squeeze(-1);
      return torch::stack(sums, 2) / count.clamp_min(1) + noise_;
    };
    if (fault == Fault::kBufferMoves) calls_ += 1;
    Memory memory;
    memory.keys = mean(keys, memory.mass);
    memory.values = mean(values, memory.mass);
    // The fault is to keep what was drawn as a plain member: it is neither saved nor restored.
    if (features_.defined()) memory.values = memory.values * features_.to(values.scalar_type());
    memory.slots = ablate::existing_slots(rate_, mask);
    return memory;
  }

 private:
  ablate::Rate rate_;
  Tensor calls_, features_;
  double noise_;
};

/// The names of the checks that fail.
template <Fault fault>
std::set<std::string> caught() {
  static constexpr auto descriptor = [] {
    auto made = ablate::detail::describe(
        ablate::Kind::kCompression, {.id = "means",
                                     .version = "1.0.0",
                                     .summary = "segment means with a fault",
                                     .capabilities = {.slots_have_keys = true, .averages = true, .lossless_at_rate_1 = true}});
    made.make_compression = [](const ablate::CompressionContext& context) -> std::shared_ptr<ablate::Compression> {
      return std::make_shared<Means<fault>>(context);
    };
    return made;
  }();
  std::set<std::string> names;
  ablate::Checks checks;
  ablate::check_compression(ablate::with_defaults(descriptor), checks);
  for (const auto& check : checks.all()) {
    INFO(check.name << ": " << check.found);
    if (!check.passed) names.insert(check.name);
    if (fault == Fault::kNone) CHECK(check.passed);
  }
  return names;
}

}  // namespace

TEST_CASE("the suite passes a plain loop and fails what is wrong") {
  CHECK(caught<Fault::kNone>().empty());
  CHECK(caught<Fault::kPaddedZerosCounted>().count("padding") == 1);
  CHECK(caught<Fault::kFullSizeForRagged>().count("constants") == 1);
  CHECK(caught<Fault::kBatchStatistic>().count("batch") == 1);
  CHECK(caught<Fault::kPaddedNaN>().count("poison") == 1);
  CHECK(caught<Fault::kOwnRandomness>().count("seed") == 1);
  CHECK(caught<Fault::kBufferMoves>().count("frozen") == 1);
  CHECK(caught<Fault::kUnsaved>().count("save") == 1);
  CHECK(caught<Fault::kShared>().count("instances") == 1);
}
