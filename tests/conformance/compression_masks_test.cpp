// Compressions with a wrong mask: in one type, in one mode, beyond one block, or in their buffers.
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Means;
using tests::variant;

/// Ignores the mask if ignores() is true.
class Ignoring : public Means {
 public:
  using Means::Means;

 protected:
  virtual bool ignores(const Tensor& keys) const = 0;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    auto seen = input;
    if (ignores(input.keys)) seen.mask = Tensor();
    return Means::slots_of(seen, first);
  }
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return ignores(input.keys) ? x : Means::tokens_of(x, input);
  }
};
/// Clears the padding, but counts it if counts() is true.
class Counting : public Means {
 public:
  using Means::Means;

 protected:
  virtual bool counts(const Tensor& keys) const = 0;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    auto seen = input;
    if (counts(input.keys)) seen.mask = Tensor();
    return Means::slots_of(seen, first);
  }
};

class InSingle final : public Ignoring {
  using Ignoring::Ignoring;
  bool ignores(const Tensor& keys) const override { return keys.scalar_type() == kFloat; }
};
class InHalf final : public Counting {
  using Counting::Counting;
  bool counts(const Tensor& keys) const override { return keys.scalar_type() == at::kHalf; }
};
class InBrain final : public Counting {
  using Counting::Counting;
  bool counts(const Tensor& keys) const override { return keys.scalar_type() == at::kBFloat16; }
};
class OfOne final : public Ignoring {
  using Ignoring::Ignoring;
  bool ignores(const Tensor& keys) const override { return keys.size(0) == 1; }
};
class InTraining final : public Ignoring {
  using Ignoring::Ignoring;
  bool ignores(const Tensor&) const override { return is_training(); }
};
class InSingleTraining final : public Counting {
  using Counting::Counting;
  bool counts(const Tensor& keys) const override { return is_training() && keys.scalar_type() == kFloat; }
};
class BeyondBlock final : public Ignoring {
  using Ignoring::Ignoring;
  bool ignores(const Tensor& keys) const override { return keys.size(2) > 64; }
};
class BeyondMany final : public Ignoring {
  using Ignoring::Ignoring;
  bool ignores(const Tensor& keys) const override { return keys.size(2) > 1024; }
};
class CountsBeyondMany final : public Counting {
  using Counting::Counting;
  bool counts(const Tensor& keys) const override { return keys.size(2) > 600 && keys.scalar_type() == kFloat; }
};
/// Counts segments from the padded end.
class FromEnd final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    const auto slot = Means::slots_of(input, first);
    const auto n = input.keys.size(2);
    return n > 64 && slots().fixed == 0 ? (slots().of(n) - 1 - slot.flip(1)).masked_fill(slot < 0, -1) : slot;
  }
};

class TimesZero final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return input.mask.defined() ? x * input.mask.unsqueeze(1).unsqueeze(-1).to(x.scalar_type()) : x;
  }
};
class TimesZeroInTraining final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    if (!is_training() || !input.mask.defined()) return Means::tokens_of(x, input);
    return x * input.mask.unsqueeze(1).unsqueeze(-1).to(x.scalar_type());
  }
};
/// Subtracts a statistic over all positions, including padding.
class PaddedStatistic final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return Means::tokens_of(x - x.detach().mean(IntArrayRef{2}, true) * 1e-3, input);
  }
};

class ZeroByZero final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    memory.values = memory.values * memory.mass.unsqueeze(-1) / memory.mass.unsqueeze(-1);
    return memory;
  }
};
/// Divides by the norm of an item's tokens, in training.
class ItemSize final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    return is_training() ? own / own.detach().square().sum({1, 2, 3}, true).sqrt() * 8.0 : own;
  }
};

class AllExist final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    memory.slots = Tensor();
    return memory;
  }
};
class FloorExist final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    if (memory.slots.defined()) {
      const auto& rate = slots().rate;
      const auto count = (input.mask.sum(-1) * rate.numerator).floor_divide(rate.denominator);
      memory.slots = arange(memory.values.size(2)) < count.view({-1, 1, 1});
    }
    return memory;
  }
};

/// Stores a moving average of keys, which changes no result and is only saved.
class Moving : public Means {
 public:
  explicit Moving(const CompressionContext& context) : Means(context) {
    mean_ = register_buffer("mean", zeros({context.d_head}));
  }

 protected:
  virtual Tensor mean_of(const WriteInput& input) const = 0;
  Memory do_write(const WriteInput& input) override {
    if (is_training()) seen_ = mean_of(input).detach();
    return Means::do_write(input);
  }
  void do_step(std::int64_t, const Generator&) override {
    const NoGradGuard none;
    if (seen_.defined()) mean_.mul_(0.9).add_(seen_.to(mean_.scalar_type()) * 0.1);
  }

 private:
  Tensor mean_, seen_;
};
class MovingRight final : public Moving {
  using Moving::Moving;
  Tensor mean_of(const WriteInput& input) const override {
    const auto own = clear_padding(input.keys, input.mask).to(kDouble).sum(IntArrayRef{0, 1, 2});
    const auto tokens =
        input.mask.defined() ? input.mask.sum().to(kDouble) : full({}, input.keys.size(0) * input.keys.size(2), kDouble);
    return own / (tokens * static_cast<double>(input.keys.size(1)));
  }
};
class MovingZeros final : public Moving {
  using Moving::Moving;
  Tensor mean_of(const WriteInput& input) const override {
    return clear_padding(input.keys, input.mask).mean(IntArrayRef{0, 1, 2});
  }
};
class MovingPadding final : public Moving {
  using Moving::Moving;
  Tensor mean_of(const WriteInput& input) const override { return input.keys.mean(IntArrayRef{0, 1, 2}); }
};

/// Counts padding only in batches with more than `beyond` tokens in a sequence.
template <std::int64_t beyond>
class MovingPaddingBeyond final : public Moving {
  using Moving::Moving;
  Tensor mean_of(const WriteInput& input) const override {
    const auto n = input.keys.size(2);
    const auto own = clear_padding(input.keys, input.mask).to(kDouble).sum(IntArrayRef{0, 1, 2});
    const auto tokens =
        input.mask.defined() && n <= beyond ? input.mask.sum().to(kDouble) : full({}, input.keys.size(0) * n, kDouble);
    return own / (tokens * static_cast<double>(input.keys.size(1)));
  }
};

class AllQueries final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return Means::tokens_of(input.queries.defined() ? x + input.queries.mean(IntArrayRef{2}, true) * 0.1 : x, input);
  }
};
class LargestQuery final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    if (input.queries.defined())
      memory.keys = memory.keys * (input.queries.detach().amax({2, 3}, true) > 3).to(memory.keys.scalar_type());
    return memory;
  }
};

const tests::AddVariants added = {
    {"the mask ignored in float32", variant<InSingle>(), "padding"},
    {"padding counted in float16", variant<InHalf>(), "padding"},
    {"padding counted in bfloat16", variant<InBrain>(), "padding"},
    {"the mask ignored of one item", variant<OfOne>(), "padding"},
    {"the mask ignored in training", variant<InTraining>(), "padding"},
    {"padding counted in training, in float32", variant<InSingleTraining>(), "padding"},
    {"the mask ignored beyond a block", variant<BeyondBlock>(), "padding"},
    {"the mask ignored beyond 1024 tokens", variant<BeyondMany>(), "padding"},
    {"padding counted beyond 600 tokens, in float32", variant<CountsBeyondMany>(), "padding"},
    {"a moving average that counts padding beyond 64 tokens", variant<MovingPaddingBeyond<64>>(), "buffers"},
    {"a moving average that counts padding beyond 512 tokens", variant<MovingPaddingBeyond<512>>(), "buffers"},
    {"segments from the padded end, beyond a block", variant<FromEnd>(), "padding"},
    {"NaN times 0", variant<TimesZero>(), "poison"},
    {"NaN times 0 in training", variant<TimesZeroInTraining>(), "poison"},
    {"a statistic over padding", variant<PaddedStatistic>(), "poison"},
    {"0 / 0 in a slot without a token", variant<ZeroByZero>(), "empty"},
    {"0 / 0 in an item without a token, in training", variant<ItemSize>(), "empty"},
    {"slots undefined", variant<AllExist>(), "slots"},
    {"slots rounded down", variant<FloorExist>(), "slots"},
    {"a moving average that counts padding", variant<MovingZeros>(), "buffers"},
    {"a moving average of padding", variant<MovingPadding>(), "buffers"},
    {"keys moved by all queries", variant<AllQueries>(), "query mask"},
    {"a decision by all queries", variant<LargestQuery>(), "query mask"},
};

}  // namespace

TEST_CASE("a moving average that leaves padding out is no fault") {
  CHECK(tests::Record().suite(*variant<MovingRight>()) == std::set<std::string>{});
}
