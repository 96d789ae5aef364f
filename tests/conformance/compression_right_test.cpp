// Right compressions must pass, like the compressions of the tree (plugins_test.cpp). Wrong compressions must fail a check.
#include <ATen/Parallel.h>

#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;
using tests::variant;
using Names = std::set<std::string>;

/// The largest value of each channel in a segment.
class MaxPool final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    const auto batch = input.keys.size(0), n = input.keys.size(2), count = memory.values.size(2);
    const auto slot = slots_of(input, zeros({batch}, kLong));
    const auto others = (slot.unsqueeze(1) != arange(count).unsqueeze(1)).view({batch, 1, count, n, 1});
    const auto largest = [&](const Tensor& x) {
      const auto most = clear_padding(x, input.mask).unsqueeze(2).masked_fill(others, -1e4).amax(3);
      return most.masked_fill((memory.mass <= 0).unsqueeze(-1), 0);
    };
    memory.keys = largest(input.keys);
    memory.values = largest(input.values);
    return memory;
  }
};
constexpr Capabilities kMaxPool = {.slots_have_keys = true,
                                   .averages = true,
                                   .lossless_at_rate_1 = true,
                                   .causal_reads = true,
                                   .fixed_slots = true,
                                   .half_precision = true};

/// A convolution whose stride is its width. Missing tokens at the end are 0.
class Strided final : public Means {
 public:
  explicit Strided(const CompressionContext& context) : Means(context), stride_(slots().rate.denominator) {
    if (slots().rate.numerator != 1) throw std::invalid_argument("a stride is a whole number of tokens: a rate of 1/k");
    weight_ =
        register_parameter("weight", randn({context.heads, context.d_head, stride_ * context.d_head}, context.generator) * 0.3);
    bias_ = register_parameter("bias", zeros({context.heads, 1, context.d_head}));
  }

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    const auto n = input.keys.size(2), missing = (stride_ - n % stride_) % stride_;
    const auto strided = [&](const Tensor& x) {
      const auto pieces = pad(clear_padding(x, input.mask), {0, 0, 0, missing}).unflatten(2, {-1, stride_}).flatten(3, 4);
      const auto found = pieces.matmul(weight_.transpose(-1, -2).to(x.scalar_type())) + bias_.to(x.scalar_type());
      return found.masked_fill((memory.mass <= 0).unsqueeze(-1), 0);
    };
    memory.keys = strided(input.keys);
    memory.values = strided(input.values);
    return memory;
  }
  std::int64_t stride_;
  Tensor weight_, bias_;
};

/// Linformer: learned mixtures of tokens by position, one matrix for keys and values.
class Projected final : public Means {
 public:
  explicit Projected(const CompressionContext& context) : Means(context) {
    weight_ = register_parameter("E", randn({slots().of(context.max_length), context.max_length}, context.generator) * 0.3);
  }

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    const auto n = input.keys.size(2), count = memory.values.size(2);
    const auto e = weight_.narrow(0, 0, count).narrow(1, 0, n).to(input.keys.scalar_type());
    const auto there = memory.slots.defined() ? memory.slots.unsqueeze(-1) : Tensor();
    const auto mixed = [&](const Tensor& x) {
      const auto found = e.matmul(clear_padding(x, input.mask));
      return there.defined() ? found.masked_fill(there.logical_not(), 0) : found;
    };
    memory.keys = mixed(input.keys);
    memory.values = mixed(input.values);
    memory.mass = ones({input.keys.size(0), 1, count}, input.keys.options().requires_grad(false));
    if (there.defined()) memory.mass = memory.mass * memory.slots.to(memory.mass.scalar_type());
    return memory;
  }
  Tensor weight_;
};

/// Selects the tokens with the largest keys, the largest first, one for each slot.
class MostUsed final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    const auto n = input.keys.size(2), count = slots().of(n);
    const auto keys = clear_padding(input.keys, input.mask), values = clear_padding(input.values, input.mask);
    auto use = keys.detach().to(kDouble).square().sum(-1);
    if (input.mask.defined()) use = use.masked_fill(input.mask.logical_not().unsqueeze(1), -1);
    Memory memory;
    memory.slots = existing_slots(slots(), input.mask);
    const auto order = use.argsort(-1, true).narrow(2, 0, count).unsqueeze(-1).expand({-1, -1, -1, keys.size(3)});
    memory.mass = ones({keys.size(0), 1, count}, keys.options().requires_grad(false));
    if (memory.slots.defined()) memory.mass = memory.mass * memory.slots.to(memory.mass.scalar_type());
    memory.keys = keys.gather(2, order) * memory.mass.unsqueeze(-1);
    memory.values = values.gather(2, order) * memory.mass.unsqueeze(-1);
    return memory;
  }
};
constexpr Capabilities kMostUsed = {
    .slots_have_keys = true, .averages = true, .lossless_at_rate_1 = true, .half_precision = true};

/// Reads tokens by a learned query for each slot: every slot is a weighted mean of all tokens.
class Asking final : public Means {
 public:
  explicit Asking(const CompressionContext& context) : Means(context) {
    asked_ =
        register_parameter("asked", randn({context.heads, slots().of(context.max_length), context.d_head}, context.generator));
  }

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    const auto count = memory.values.size(2);
    const auto type = input.keys.scalar_type();
    const auto wide = c10::isReducedFloatingType(type) ? kFloat : type;
    const auto keys = clear_padding(input.keys, input.mask).to(wide), values = clear_padding(input.values, input.mask).to(wide);
    auto scores = asked_.narrow(1, 0, count).to(wide).matmul(keys.transpose(-1, -2));
    if (input.mask.defined()) scores = scores.masked_fill(input.mask.logical_not().view({-1, 1, 1, keys.size(2)}), -1e30);
    memory.mass = ones({keys.size(0), 1, count}, input.keys.options().requires_grad(false));
    if (input.mask.defined()) memory.mass = memory.mass * input.mask.any(1).view({-1, 1, 1}).to(type);
    if (memory.slots.defined()) memory.mass = memory.mass * memory.slots.to(type);
    const auto there = memory.mass.to(wide).unsqueeze(-1);
    memory.keys = (scores.softmax(-1).matmul(keys) * there).to(type);
    memory.values = (scores.softmax(-1).matmul(values) * there).to(type);
    return memory;
  }
  Tensor asked_;
};

class SayingMeans final : public Means {
  using Means::Means;
  bool slots_are_means() const override { return true; }
};

/// Drops tokens at random in training, by the generator of the input.
class Dropping final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    if (!is_training()) return own;
    const auto kept = randn({x.size(0), 1, x.size(2), 1}, input.generator, kFloat) > -1;
    return own * kept.to(own.scalar_type());
  }
};

}  // namespace

TEST_CASE("compressions without a fault pass") {
  CHECK(tests::Record().suite(*variant<Means>()) == Names{});
  CHECK(tests::Record().suite(*variant<SayingMeans>()) == Names{});
  CHECK(tests::Record().suite(*variant<MaxPool>(kMaxPool)) == Names{});
  CHECK(tests::Record().suite(*variant<Strided>({.slots_have_keys = true, .causal_reads = true, .half_precision = true})) ==
        Names{});
  CHECK(tests::Record().suite(*variant<Projected>({.slots_have_keys = true, .half_precision = true})) == Names{});
  CHECK(tests::Record().suite(*variant<MostUsed>(kMostUsed)) == Names{});
  CHECK(tests::Record().suite(*variant<Asking>(
            {.slots_have_keys = true, .averages = true, .fixed_slots = true, .half_precision = true})) == Names{});
  CHECK(tests::Record().suite(*variant<Dropping>({.slots_have_keys = true, .causal_reads = true})) == Names{});
}

TEST_CASE("every wrong compression fails the check for its fault, and every check can fail") {
  tests::Record record;
  const int threads = at::get_num_threads();
  for (const auto& [what, plugin, check] : tests::variants()) {
    INFO(what);
    CHECK(record.fails(*plugin, check));
    at::set_num_threads(threads);  // some faults change it
  }
  tests::Record right;
  right.suite(*variant<SayingMeans>());
  for (const auto& check : right.ran) {
    INFO(check);
    CHECK((record.failed.count(check) == 1 || check == "cuda"));
  }
}

TEST_CASE("a fault is reported with its place") {
  for (const auto& [what, plugin, check] : tests::variants()) {
    if (what == "mass squared") tests::check_mentions(tests::found(*plugin, check), "4096, expected 64");
    if (what == "declared complete too late")
      tests::check_mentions(tests::found(*plugin, check), "slot 0 is declared complete with token");
    if (what == "a head's share never used")
      tests::check_mentions(tests::found(*plugin, check), "1 of 2 places along dimension 0, from 1 on of gain");
  }
}
