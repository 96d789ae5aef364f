// Compressions that mix items, calls or instances, or draw and write where they must not.
#include <map>

#include "ablate/operation.h"
#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::kMeans;
using tests::Means;
using tests::variant;

/// What a fault does to a memory that is right.
template <class Change>
class Changed final : public Means {
 public:
  explicit Changed(const CompressionContext& context) : Means(context), change_(context) {
    change_.made([&](const char* name, const Tensor& tensor) { return register_buffer(name, tensor); }, context);
  }

 private:
  Memory do_write(const WriteInput& input) override {
    auto memory = Means::do_write(input);
    change_.write(memory, input, is_training());
    return memory;
  }
  void do_step(std::int64_t step, const Generator& generator) override {
    const NoGradGuard none;
    change_.step(step, generator);
  }
  Change change_;
};
struct Change {
  explicit Change(const CompressionContext&) {}
  template <class Register>
  void made(const Register&, const CompressionContext&) {}
  void write(Memory&, const WriteInput&, bool) {}
  void step(std::int64_t, const Generator&) {}
};

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

/// A gain whose gradient is of another sum than that over the batch.
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

/// Memberships kept by shape.
class CachedByShape final : public Means {
  using Means::Means;
  Tensor slots_of(const WriteInput& input, const Tensor& first) const override {
    auto& found = by_shape_[{input.keys.size(0), input.keys.size(2)}];
    if (!found.defined()) found = Means::slots_of(input, first);
    return found;
  }
  mutable std::map<std::pair<std::int64_t, std::int64_t>, Tensor> by_shape_;
};
/// The first mask for good, in training.
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
/// The memory stands in a tensor that the next call writes anew.
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
/// The keys of the call before, kept as they were handed in.
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

struct OwnRandomness : Change {
  using Change::Change;
  double noise = empty({1}).uniform_(0, 1).item().toDouble();
  void write(Memory& memory, const WriteInput&, bool) { memory.values = memory.values + noise; }
};
struct StepDraws : Change {
  using Change::Change;
  template <class Register>
  void made(const Register& add, const CompressionContext&) {
    features = add("features", ones({}));
  }
  void write(Memory& memory, const WriteInput&, bool) { memory.keys = memory.keys * features.to(memory.keys.scalar_type()); }
  void step(std::int64_t step, const Generator&) {
    if (step % 100 == 0) features.uniform_(0.5, 1);
  }
  Tensor features;
};
struct DropsGlobally : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput&, bool training) {
    if (training) memory.values = memory.values * (empty(memory.values.sizes(), memory.values.options()).uniform_(0, 1) > 0.1);
  }
};

struct Shared : Change {
  using Change::Change;
  template <class Register>
  void made(const Register& add, const CompressionContext&) {
    static const Tensor one = ones({});
    gain = add("gain", one);
  }
  void write(Memory& memory, const WriteInput&, bool) { memory.values = memory.values * gain.to(memory.values.scalar_type()); }
  Tensor gain;
};
/// What training has seen is counted for all instances together.
struct CountsForAll : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput&, bool training) {
    static double seen = 0;
    if (training) seen += 1;
    memory.values = memory.values * (1 + seen * 1e-3);
  }
};

struct Unsaved : Change {
  explicit Unsaved(const CompressionContext& context)
      : Change(context), features(empty({}).uniform_(0, 1, context.generator)) {}
  void write(Memory& memory, const WriteInput&, bool) {
    memory.values = memory.values * features.to(memory.values.scalar_type());
  }
  Tensor features;
};
struct UnsavedSteps : Change {
  using Change::Change;
  double steps = 0;
  void write(Memory& memory, const WriteInput&, bool) { memory.keys = memory.keys * (1 + steps); }
  void step(std::int64_t, const Generator&) { steps += 0.1; }
};

struct MovesBuffer : Change {
  using Change::Change;
  template <class Register>
  void made(const Register& add, const CompressionContext&) {
    calls = add("calls", zeros({1}));
  }
  void write(Memory&, const WriteInput&, bool) {
    const NoGradGuard none;
    calls += 1;
  }
  Tensor calls;
};
struct Draws : Change {
  using Change::Change;
  void write(Memory&, const WriteInput& input, bool training) {
    if (!training) randn({1}, input.generator);
  }
};
/// Noise from a copy of the generator, which itself does not move.
struct ClonedNoise : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput& input, bool) {
    memory.values = memory.values + randn({1}, input.generator.clone()).to(memory.values.scalar_type()) * 1e-2;
  }
};
struct GlobalNoise : Change {
  using Change::Change;
  void write(Memory& memory, const WriteInput&, bool training) {
    if (!training) memory.values = memory.values + empty({1}, memory.values.options()).uniform_(0, 1e-2);
  }
};

/// A parameter that is set after a step.
template <std::int64_t every>
class StepsParameter final : public Means {
 public:
  explicit StepsParameter(const CompressionContext& context) : Means(context) { gain_ = register_parameter("gain", ones({})); }

 private:
  Tensor tokens_of(const Tensor& x, const WriteInput& input) override {
    return Means::tokens_of(x, input) * gain_.to(x.scalar_type());
  }
  void do_step(std::int64_t step, const Generator&) override {
    const NoGradGuard none;
    if (step % every == 0) gain_.mul_(0.5);
  }
  Tensor gain_;
};

class CastsKept final : public Means {
 public:
  explicit CastsKept(const CompressionContext& context) : Means(context) {
    kept_ = register_buffer("kept", ones({3}), {.type = true});
  }

 private:
  void do_step(std::int64_t, const Generator&) override { kept_.set_data(kept_.to(at::kHalf)); }
  Tensor kept_;
};
struct IndicesAsReals : Change {
  using Change::Change;
  template <class Register>
  void made(const Register& add, const CompressionContext&) {
    add("order", arange(1001).to(kFloat));
  }
};

/// Divided by the steps before the first one, by the variance of one number.
template <std::int64_t first>
struct NotFiniteAt : Change {
  using Change::Change;
  template <class Register>
  void made(const Register& add, const CompressionContext&) {
    mean = add("mean", ones({1}));
  }
  void step(std::int64_t step, const Generator&) { mean.sub_(mean).div_(step - first); }
  Tensor mean;
};

const tests::AddVariants added = {
    {"a mean over the batch in training", variant<BatchMean>(), "batch"},
    {"the largest of the batch in float32", variant<BatchLargest>(), "batch"},
    {"the mean of the items' gradients", variant<BatchGradient<true>>(), "additive"},
    {"the first item's gradient", variant<BatchGradient<false>>(), "additive"},
    {"memberships kept by shape", variant<CachedByShape>(), "calls"},
    {"the first mask, in training", variant<FirstMask>(), "calls"},
    {"a memory written anew", variant<Changed<ReusesMemory>>(), "calls"},
    {"inputs kept", variant<Changed<KeepsInputs>>(), "calls"},
    {"padding cleared in place", variant<Changed<ClearsInPlace>>(), "inputs"},
    {"keys centred in place, in training", variant<Changed<CentresInPlace>>(), "inputs"},
    {"a read that writes", variant<ReadWrites>(), "inputs"},
    {"made with its own randomness", variant<Changed<OwnRandomness>>(), "seed"},
    {"drawn anew from the global generator", variant<Changed<StepDraws>>(), "seed"},
    {"dropped by the global generator, in training", variant<Changed<DropsGlobally>>(), "seed"},
    {"one tensor for all instances", variant<Changed<Shared>>(), "instances"},
    {"one count for all instances", variant<Changed<CountsForAll>>(), "instances"},
    {"features not saved", variant<Changed<Unsaved>>(), "save"},
    {"steps not saved", variant<Changed<UnsavedSteps>>(), "save"},
    {"a buffer that evaluation moves", variant<Changed<MovesBuffer>>(), "evaluation"},
    {"evaluation draws", variant<Changed<Draws>>(), "evaluation"},
    {"noise from a copy of the generator", variant<Changed<ClonedNoise>>(), "evaluation"},
    {"noise from the global generator", variant<Changed<GlobalNoise>>(), "evaluation"},
    {"a parameter set after each step", variant<StepsParameter<1>>(), "step"},
    {"a parameter set now and then", variant<StepsParameter<1000>>(), "step"},
    {"a tensor cast that is kept", variant<CastsKept>(), "kept"},
    {"indices as reals", variant<Changed<IndicesAsReals>>(), "kept"},
    {"not finite from the first step on", variant<Changed<NotFiniteAt<1>>>(), "training"},
    {"not finite from the second step on", variant<Changed<NotFiniteAt<2>>>(), "training"},
};

}  // namespace
