// Compressions with faults in draws, buffers, saved state or types.
#include <utility>

#include "tests/conformance/means.h"

using namespace ablate;

namespace {

using tests::Change;
using tests::Changed;
using tests::Means;
using tests::variant;

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
/// Redraws at every `every`-th step, if a training pass came before the step.
template <std::int64_t every>
struct LateStepDraws : StepDraws {
  using StepDraws::StepDraws;
  bool seen = false;
  void write(Memory& memory, const WriteInput& input, bool training) {
    seen = seen || training;
    StepDraws::write(memory, input, training);
  }
  void step(std::int64_t step, const Generator&) {
    if (std::exchange(seen, false) && step % every == 0) features.uniform_(0.5, 1);
  }
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
/// Counts training passes for all instances together.
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
/// Noise from a copy of the generator, so the generator itself does not move.
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

/// A parameter that on_step changes.
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

/// Divides 0 by the number of steps after `first`: 0 / 0 at step `first`.
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
    {"made with its own randomness", variant<Changed<OwnRandomness>>(), "seed"},
    {"drawn anew from the global generator", variant<Changed<StepDraws>>(), "seed"},
    {"drawn anew from the global generator every 300 steps", variant<Changed<LateStepDraws<300>>>(), "seed"},
    {"drawn anew from the global generator at one step", variant<Changed<LateStepDraws<777>>>(), "seed"},
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
    {"a parameter set every 300 steps", variant<StepsParameter<300>>(), "step"},
    {"a tensor cast that is kept", variant<CastsKept>(), "kept"},
    {"indices as reals", variant<Changed<IndicesAsReals>>(), "kept"},
    {"not finite from the first step on", variant<Changed<NotFiniteAt<1>>>(), "training"},
    {"not finite from the second step on", variant<Changed<NotFiniteAt<2>>>(), "training"},
};

}  // namespace
