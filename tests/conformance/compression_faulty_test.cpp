// The suite is only worth something if it fails: compressions with one known fault each.
#include <ATen/ops/constant_pad_nd.h>

#include <set>

#include "ablate/landmarks.h"
#include "ablate/padding.h"
#include "core/trial/conformance/compression_checks.h"
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
  kShared,
  kRoundedDown,  // floor(rate n) slots
  kEmptySlot,    // 0 / 0 where a slot has no token
  kDetached,     // keys without a gradient
  kTenthPower,   // beyond float32 where inputs are large
  kFirstStep,    // a mean over the steps before the first one
  kWrongType,    // values in float64, whatever the inputs
  kBeyondHalf,   // beyond float16 on the way
  kSmoothed,     // neighbours mixed in, at any rate
  kOwnChannels,  // reads keys of its own size alone
  kBound,        // a parameter divided by, whose range holds 0
};

/// Segment means at any rate by a plain loop, with a fault.
template <Fault fault>
class Means : public ablate::LandmarkCompression {
 public:
  explicit Means(const ablate::CompressionContext& context)
      : rate_(context.rate), d_head_(context.d_head), every_(context.parameters.integer("every")) {
    calls_ = register_buffer("calls", torch::zeros({1}));
    if (fault == Fault::kUnsaved) features_ = torch::rand({}, context.generator);
    if (fault == Fault::kShared) {
      static const Tensor shared = torch::ones({});
      features_ = register_buffer("shared", shared);
    }
    noise_ = fault == Fault::kOwnRandomness ? torch::randn({1}).item<double>() : 0;
  }

  Memory write(const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    const auto n = keys.size(2),
               slots = fault == Fault::kRoundedDown ? std::max<std::int64_t>(rate_.slot_of(n), 1) : rate_.slots(n);
    const auto mean = [&](Tensor x, Tensor& mass) {
      if (fault != Fault::kPaddedNaN)
        x = ablate::clear_padding(x, mask);
      else if (mask.defined())
        x = x * mask.unsqueeze(1).unsqueeze(-1);
      if (fault == Fault::kTenthPower) x = x * (x.pow(10).sum(-1, true) / x.pow(10).sum(-1, true));
      if (fault == Fault::kBeyondHalf) x = x * 1e5 / 1e5;
      if (fault == Fault::kSmoothed) x = 0.9 * x + 0.1 * x.roll(1, 2);
      if (fault == Fault::kBound) x = x * every_ / every_;
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
      return torch::stack(sums, 2) / (fault == Fault::kEmptySlot ? count : count.clamp_min(1)) + noise_;
    };
    if (fault == Fault::kBufferMoves) calls_ += 1;
    Memory memory;
    memory.keys = mean(fault == Fault::kDetached ? keys.detach() : keys, memory.mass);
    memory.values = mean(values, memory.mass);
    if (fault == Fault::kFirstStep) memory.values = memory.values * (1 + 0 * calls_.to(values.scalar_type()));
    if (fault == Fault::kWrongType) memory.values = memory.values.to(torch::kDouble);
    // The fault is to keep what was drawn as a plain member: it is neither saved nor restored.
    if (features_.defined()) memory.values = memory.values * features_.to(values.scalar_type());
    memory.slots = ablate::existing_slots(rate_, mask);
    return memory;
  }

  Tensor read(const Tensor& queries, const Memory& memory, ablate::Similarity similarity) override {
    if (fault == Fault::kOwnChannels && queries.size(3) != d_head_) throw std::invalid_argument("another size of keys");
    return LandmarkCompression::read(queries, memory, similarity);
  }

  void on_step(std::int64_t step) override {
    torch::NoGradGuard no_grad;
    if (fault == Fault::kFirstStep) calls_.add_(1).div_(step - 1);
  }

 private:
  ablate::Rate rate_;
  std::int64_t d_head_;
  double every_;
  Tensor calls_, features_;
  double noise_;
};

constexpr ablate::Parameter kParameters[] = {ablate::integer("every", "1", {0, 8}, "a factor that cancels")};

std::set<std::string> run_once, failed_once;

/// The names of the checks that fail.
template <Fault fault>
std::set<std::string> caught() {
  static constexpr auto descriptor = [] {
    auto made = ablate::detail::describe(
        ablate::Kind::kCompression,
        {.id = "means",
         .version = "1.0.0",
         .summary = "segment means with a fault",
         .capabilities = {.slots_have_keys = true, .averages = true, .lossless_at_rate_1 = true, .half_precision = true},
         .parameters = kParameters});
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
    if (check.name != "cuda") run_once.insert(check.name);  // can it fail? tests/conformance/device_test.cpp
    if (check.failed()) names.insert(check.name);
    if (fault == Fault::kNone) CHECK_FALSE(check.failed());
  }
  failed_once.insert(names.begin(), names.end());
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
  CHECK(caught<Fault::kRoundedDown>().count("slots") == 1);
  CHECK(caught<Fault::kEmptySlot>().count("empty") == 1);
  CHECK(caught<Fault::kDetached>().count("gradient") == 1);
  CHECK(caught<Fault::kTenthPower>().count("scale") == 1);
  CHECK(caught<Fault::kFirstStep>().count("training") == 1);
  CHECK(caught<Fault::kWrongType>().count("type") == 1);
  CHECK(caught<Fault::kBeyondHalf>() == std::set<std::string>{"half"});
  CHECK(caught<Fault::kSmoothed>().count("lossless") == 1);
  CHECK(caught<Fault::kOwnChannels>() == std::set<std::string>{"projected"});
  CHECK(caught<Fault::kBound>() == std::set<std::string>{"runs"});
  CHECK(failed_once == run_once);  // every check can fail
}
