// Compressions that mix the items of a batch or the calls of one instance, or write into their inputs.
#include <map>

#include "ablate/operation.h"
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Change;
using tests::Changed;
using tests::Means;
using tests::variant;

class BatchMean final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    return is_training() ? own - own.mean(IntArrayRef{0}, true) * 1e-2 : own;
  }
};
class BatchLargest final : public Means {
  using Means::Means;
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    if (x.scalar_type() != kFloat) return own;
    const auto largest = own.detach().abs().amax();
    return own / largest * largest.clamp_max(8);
  }
};

/// A gain whose gradient is not the sum over the batch.
template <bool mean>
class BatchGradient final : public Means {
 public:
  explicit BatchGradient(const CompressionContext& context) : Means(context) { gain_ = register_parameter("gain", ones({})); }

 private:
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    const auto own = Means::tokens_of(x, input);
    const auto gain = gain_.to(own.scalar_type());
    return with_gradient(
        {own, gain},
        [&](Saved& saved) {
          saved = {own, gain};
          return own * gain;
        },
        [](const Tensor& gradient, const Saved& saved) -> std::vector<Tensor> {
          const auto items = (gradient * saved[0]).sum(IntArrayRef{1, 2, 3});
          return {gradient * saved[1], mean ? items.mean() : items[0].clone()};
        });
  }
  Tensor gain_;
};

/// Caches the slots of tokens by the shape of the batch.
class CachedByShape final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    auto& found = by_shape_[{input.keys.size(0), input.keys.size(2)}];
    if (!found.defined()) found = Means::slots_of(input, first);
    return found;
  }
  mutable std::map<std::pair<std::int64_t, std::int64_t>, Tensor> by_shape_;
};
/// Caches the slots of tokens by shape, from some length on; if `in_single`, only in float32.
template <std::int64_t from, bool in_single>
class CachedFrom final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    if (input.keys.size(2) < from || (in_single && input.keys.scalar_type() != kFloat)) return Means::slots_of(input, first);
    auto& found = by_shape_[{input.keys.size(0), input.keys.size(2)}];
    if (!found.defined()) found = Means::slots_of(input, first);
    return found;
  }
  mutable std::map<std::pair<std::int64_t, std::int64_t>, Tensor> by_shape_;
};
/// Requires queries in a write. Without queries, it throws or changes the keys.
template <bool throws>
struct NeedsQueries : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    if (input.queries.defined()) return;
    if (throws) throw std::runtime_error("another batch");
    memory.keys = memory.keys * 0.99;
  }
};
/// In training, uses the first mask also in later calls with masks of the same shape.
class FirstMask final : public Means {
  using Means::Means;
  Memory do_write(const WriteInput& input) override {
    auto seen = input;
    if (is_training() && input.mask.defined()) {
      if (!mask_.defined() || !mask_.sizes().equals(input.mask.sizes())) mask_ = input.mask;
      seen.mask = mask_;
    }
    return Means::do_write(seen);
  }
  Tensor mask_;
};
/// Stores the memory in a tensor that the next call overwrites.
struct ReusesMemory : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput&, bool training) {
    if (training) return;
    const NoGradGuard none;
    if (!buffer.defined() || !buffer.sizes().equals(memory.values.sizes()) ||
        buffer.scalar_type() != memory.values.scalar_type())
      buffer = zeros_like(memory.values);
    memory.values = buffer.copy_(memory.values);
  }
  Tensor buffer;
};
/// Adds the keys of the previous call, without a copy of them.
struct KeepsInputs : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    if (before.defined() && before.sizes().equals(memory.keys.sizes()))
      memory.keys = memory.keys + before.to(memory.keys.scalar_type()) * 1e-3;
    before = input.keys.detach().narrow(2, 0, memory.keys.size(2));
  }
  Tensor before;
};

struct ClearsInPlace : Change {
  using Change::Change;
  void write(Memory&, const WriteInput& input, bool) {
    const NoGradGuard none;
    if (input.mask.defined()) input.values.masked_fill_(input.mask.logical_not().unsqueeze(1).unsqueeze(-1), 0);
  }
};
struct CentresInPlace : Change {
  using Change::Change;
  void write(Memory&, const WriteInput& input, bool training) {
    const NoGradGuard none;
    if (training) input.keys.sub_(1e-3);
  }
};
class ReadWrites final : public Means {
  using Means::Means;
  ReadOutput do_read(const ReadInput& input) override {
    const NoGradGuard none;
    auto mass = input.memory.mass;
    mass.mul_(2);
    return Means::do_read(input);
  }
};

const tests::AddVariants added = {
    {"a mean over the batch in training", variant<BatchMean>(), "batch"},
    {"the largest of the batch in float32", variant<BatchLargest>(), "batch"},
    {"the mean of the items' gradients", variant<BatchGradient<true>>(), "additive"},
    {"the first item's gradient", variant<BatchGradient<false>>(), "additive"},
    {"memberships kept by shape", variant<CachedByShape>(), "calls"},
    {"memberships kept by shape, from 32 tokens on", variant<CachedFrom<32, false>>(), "calls"},
    {"memberships kept by shape, from 100 tokens on, in float32", variant<CachedFrom<100, true>>(), "calls"},
    {"queries must be there", variant<Changed<NeedsQueries<true>>>(), "no queries"},
    {"other keys without queries", variant<Changed<NeedsQueries<false>>>(), "no queries"},
    {"the first mask, in training", variant<FirstMask>(), "calls"},
    {"a memory written anew", variant<Changed<ReusesMemory>>(), "calls"},
    {"inputs kept", variant<Changed<KeepsInputs>>(), "calls"},
    {"padding cleared in place", variant<Changed<ClearsInPlace>>(), "inputs"},
    {"keys centred in place, in training", variant<Changed<CentresInPlace>>(), "inputs"},
    {"a read that writes", variant<ReadWrites>(), "inputs"},
};

}  // namespace
