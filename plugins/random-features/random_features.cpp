// FAVOR+ (Performer, Choromanski et al. 2021): slot j is the sum of values over the sequence, weighted by random feature j.
#include "ablate/random_features.h"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "ablate/compression.h"
#include "ablate/padding.h"

namespace {

using ablate::clear_padding;
using ablate::existing_slots;
using ablate::FeatureKernel;
using ablate::Memory;
using ablate::ReadInput;
using ablate::ReadOutput;
using ablate::Tensor;
using ablate::WriteInput;

constexpr auto kKernels = ablate::choices<FeatureKernel>({{"positive", FeatureKernel::kPositive},
                                                          {"trigonometric", FeatureKernel::kTrigonometric},
                                                          {"hyperbolic", FeatureKernel::kHyperbolic}});

constexpr ablate::Parameter parameters[] = {
    ablate::text("kernel", "\"positive\"", kKernels, "features of the softmax kernel; the last two store two columns per slot"),
    ablate::integer("redraw", "1000", {0, 1e9}, "optimiser steps between new feature vectors; 0 never draws again", "steps"),
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Trigonometric weights may sum to nearly 0 or less, which makes the quotient meaningless. By Cauchy and Schwarz the sum is at
// most |phi(q)| |mass|, so a smaller sum is replaced by this share of the bound.
constexpr double kLeastShare = 1e-3;

class RandomFeatures final : public ablate::Compression {
 public:
  explicit RandomFeatures(const ablate::CompressionContext& context)
      : Compression(context),
        kernel_(kKernels.of(context.parameters, "kernel")),
        features_(register_module(
            "features", std::make_shared<ablate::FeatureVectors>(context.heads, slots().of(context.max_length), context.d_head,
                                                                 context.parameters.integer("redraw"), context.generator))) {}

  bool follows_similarity() const override { return false; }

 private:
  Memory do_write(const WriteInput& input) override {
    const auto &keys = input.keys, &values = input.values, &mask = input.mask;
    const auto& vectors = features_->vectors;
    if (keys.size(1) != vectors.size(0) || keys.size(3) != vectors.size(2))
      throw std::invalid_argument("random-features was made for " + std::to_string(vectors.size(0)) + " heads of " +
                                  std::to_string(vectors.size(2)) + " channels, and was given " + std::to_string(keys.size(1)) +
                                  " of " + std::to_string(keys.size(3)));
    const auto count = slots().of(keys.size(2)), columns = ablate::columns_of(kernel_);
    Memory memory;
    memory.slots = existing_slots(slots(), mask);
    Tensor gone;  // [batch, 1, n, slots * columns], or [batch, 1, n, 1] if all slots exist
    if (mask.defined()) {
      gone = mask.view({mask.size(0), 1, -1, 1});
      if (memory.slots.defined()) gone = gone.logical_and(columns_that_exist(memory.slots));
      gone = gone.logical_not();
    }
    // One maximum per item and head: separate maxima for keys would change their relative weights.
    const auto [phi, largest] = stabilised(clear_padding(keys, mask), count, gone, {-2, -1});
    const auto mass = phi.sum(2);
    const auto sums = phi.transpose(-1, -2).matmul(clear_padding(values, mask));
    memory.values = sums.reshape({keys.size(0), keys.size(1), count, -1});
    memory.mass = columns == 1 ? mass : mass.unflatten(2, {count, columns});
    memory.log_scale = largest;
    if (input.held != nullptr) extend(memory, *input.held);
    return memory;
  }

  /// Adds the sums at the larger of their scales, so that nothing overflows.
  void extend(Memory& memory, const Memory& held) const {
    if (slots().fixed == 0)
      throw std::logic_error("random-features extends a memory of a fixed number of slots; at a rate it would get more slots");
    const auto scale = memory.log_scale.maximum(held.log_scale);
    const auto add = [&](const Tensor& now, const Tensor& before) {
      const auto share = [&](const Tensor& log_scale) {
        auto factor = (log_scale - scale.masked_fill(scale == -kInfinity, 0)).exp();
        return now.dim() == 3 ? factor.squeeze(-1) : factor;
      };
      return now * share(memory.log_scale) + before * share(held.log_scale);
    };
    memory.values = add(memory.values, held.values);
    memory.mass = add(memory.mass, held.mass);
    memory.log_scale = scale;
  }

  ReadOutput do_read(const ReadInput& input) override {
    const auto& memory = input.memory;
    const auto count = memory.values.size(2), columns = ablate::columns_of(kernel_);
    Tensor gone;  // [batch, 1, 1, slots * columns]
    if (memory.slots.defined()) gone = columns_that_exist(memory.slots).logical_not();
    const auto phi = stabilised(input.queries, count, gone, {-1}).phi;
    const auto sums = memory.values.reshape({memory.values.size(0), memory.values.size(1), count * columns, -1});
    const auto mass = memory.mass.flatten(2).unsqueeze(-1);
    auto denominator = phi.matmul(mass);
    if (kernel_ == FeatureKernel::kTrigonometric)
      denominator = denominator.maximum(kLeastShare * phi.norm(2, -1, true) * mass.norm(2, -2, true));
    const double tiny = phi.scalar_type() == ablate::kDouble ? std::sqrt(std::numeric_limits<double>::min())
                                                             : std::sqrt(std::numeric_limits<float>::min());
    // Dividing by infinity makes the value and every gradient exactly 0.
    return {.values = phi.matmul(sums) / denominator.masked_fill(denominator <= tiny, kInfinity)};
  }

  void do_step(std::int64_t step, const ablate::Generator&) override { features_->on_step(step); }

  struct Stabilised {
    Tensor phi;      ///< [batch, heads, n, slots * columns]
    Tensor largest;  ///< log of the scale of phi; size 1 along the axes
  };

  /// [batch, 1, slots] -> [batch, 1, 1, slots * columns]
  Tensor columns_that_exist(const Tensor& slots) const {
    return slots.repeat_interleave(ablate::columns_of(kernel_), 2).unsqueeze(2);
  }

  /// phi(x) divided by its largest exponential along `axes`, and 0 for `gone`. The divisor cancels in a read. Queries and keys
  /// are each scaled by d^-1/4, so that their products have softmax's factor 1 / sqrt(d).
  Stabilised stabilised(const Tensor& x, std::int64_t count, const Tensor& gone, ablate::IntArrayRef axes) const {
    const auto scaled = x * std::pow(static_cast<double>(x.size(-1)), -0.25);
    auto [log, factor] = ablate::log_features(kernel_, scaled, features_->vectors.narrow(1, 0, count));
    if (gone.defined()) log = log.masked_fill(log.size(-1) == 1 ? gone.all(-1, true) : gone, -kInfinity);
    const auto largest = log.detach().amax(axes, true);
    auto phi = (log - largest.masked_fill(largest == -kInfinity, 0)).exp();
    if (factor.defined()) phi = gone.defined() ? (phi * factor).masked_fill(gone, 0) : phi * factor;
    return {phi, largest};
  }

  FeatureKernel kernel_;
  std::shared_ptr<ablate::FeatureVectors> features_;  // slots.of(max_length) vectors
};

}  // namespace

ABLATE_COMPRESSION(
    RandomFeatures,
    {.id = "random-features",
     .version = "1.1.0",
     .summary = "positive, trigonometric or hyperbolic orthogonal random features of the softmax kernel",
     .paper = "Choromanski et al. 2021, arXiv 2009.14794",
     .capabilities = {.fixed_slots = true, .extends = true, .half_precision = true, .time_exponent = 2, .memory_exponent = 2},
     .parameters = parameters})
