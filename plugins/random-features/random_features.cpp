// FAVOR+ (Performer, Choromanski et al. 2021): slot j is one random feature vector's sum of values over the sequence.
#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "ablate/compression.h"
#include "ablate/padding.h"
#include "features.h"

namespace {

using ablate::clear_padding;
using ablate::existing_slots;
using ablate::FeatureKernel;
using ablate::Memory;
using torch::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::text("kernel", "\"positive\"", "positive|trigonometric|hyperbolic",
                 "features of the softmax kernel; the last two keep two columns a slot"),
    ablate::integer("redraw", "1000", {0, 1e9}, "optimiser steps between new feature vectors; 0 never draws again", "steps"),
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Trigonometric weights may sum to nearly 0 or less, where the quotient means nothing. By Cauchy and Schwarz the sum is at most
// |phi(q)| |mass|; whatever is below this share of that bound is taken as this share.
constexpr double kLeastShare = 1e-3;

FeatureKernel kernel_named(const std::string& name) {
  if (name == "positive") return FeatureKernel::kPositive;
  return name == "hyperbolic" ? FeatureKernel::kHyperbolic : FeatureKernel::kTrigonometric;
}

class RandomFeatures : public ablate::Compression {
 public:
  explicit RandomFeatures(const ablate::CompressionContext& context)
      : rate_(context.rate),
        kernel_(kernel_named(context.parameters.text("kernel"))),
        redraw_(context.parameters.integer("redraw")) {
    features_ = register_buffer("features", ablate::orthogonal_features(context.heads, rate_.slots(context.max_length),
                                                                        context.d_head, context.generator));
    seed_ = torch::randint(std::int64_t{1} << 62, {1}, context.generator, torch::kLong).item<std::int64_t>();
  }

  Memory write(const Tensor& keys, const Tensor& values, const Tensor& mask) override {
    if (keys.size(1) != features_.size(0) || keys.size(3) != features_.size(2))
      throw std::invalid_argument("random-features was made for " + std::to_string(features_.size(0)) + " heads of " +
                                  std::to_string(features_.size(2)) + " channels, and was given " +
                                  std::to_string(keys.size(1)) + " of " + std::to_string(keys.size(3)));
    const auto slots = rate_.slots(keys.size(2)), columns = ablate::columns_of(kernel_);
    Memory memory;
    memory.slots = existing_slots(rate_, mask);
    Tensor gone;  // [batch, 1, n, slots * columns]
    if (mask.defined()) gone = mask.view({mask.size(0), 1, -1, 1}).logical_and(columns_that_exist(memory.slots)).logical_not();
    // One scalar a batch item and head: a maximum over less would weigh keys against each other.
    const auto phi = stabilised(clear_padding(keys, mask), slots, gone, {-2, -1});
    const auto mass = phi.sum(2);
    const auto sums = phi.transpose(-1, -2).matmul(clear_padding(values, mask));
    memory.values = sums.reshape({keys.size(0), keys.size(1), slots, -1});
    memory.mass = columns == 1 ? mass : mass.unflatten(2, {slots, columns});
    return memory;
  }

  Tensor read(const Tensor& queries, const Memory& memory, ablate::Similarity) override {
    const auto slots = memory.values.size(2), columns = ablate::columns_of(kernel_);
    Tensor gone;  // [batch, 1, 1, slots * columns]
    if (memory.slots.defined()) gone = columns_that_exist(memory.slots).logical_not();
    const auto phi = stabilised(queries, slots, gone, {-1});
    const auto sums = memory.values.reshape({memory.values.size(0), memory.values.size(1), slots * columns, -1});
    const auto mass = memory.mass.flatten(2).unsqueeze(-1);
    auto denominator = phi.matmul(mass);
    if (kernel_ == FeatureKernel::kTrigonometric)
      denominator = torch::maximum(denominator, kLeastShare * phi.norm(2, -1, true) * mass.norm(2, -2, true));
    const double tiny = phi.scalar_type() == torch::kDouble ? std::sqrt(std::numeric_limits<double>::min())
                                                            : std::sqrt(std::numeric_limits<float>::min());
    // Over infinity, both the value and every gradient are exactly 0.
    return phi.matmul(sums) / denominator.masked_fill(denominator <= tiny, kInfinity);
  }

  void on_step(std::int64_t step) override {
    if (redraw_ == 0 || step % redraw_ != 0) return;
    torch::NoGradGuard no_grad;
    // Seeded by the step, so that a run that goes on from a checkpoint draws what it would have drawn.
    const auto generator = at::detail::createCPUGenerator(static_cast<std::uint64_t>(seed_) + static_cast<std::uint64_t>(step));
    features_.copy_(ablate::orthogonal_features(features_.size(0), features_.size(1), features_.size(2), generator));
  }

 private:
  /// [batch, 1, slots] -> [batch, 1, 1, slots * columns]
  Tensor columns_that_exist(const Tensor& slots) const {
    return slots.repeat_interleave(ablate::columns_of(kernel_), 2).unsqueeze(2);
  }

  /// phi(x) over its largest exponential along `axes`, which cancels in a read; 0 where `gone`. Queries and keys are scaled by
  /// d^-1/4 each, which is softmax's 1 / sqrt(d).
  Tensor stabilised(const Tensor& x, std::int64_t slots, const Tensor& gone, at::IntArrayRef axes) const {
    const auto scaled = x * std::pow(static_cast<double>(x.size(-1)), -0.25);
    auto [log, factor] = ablate::log_features(kernel_, scaled, features_.narrow(1, 0, slots));
    if (gone.defined()) log = log.masked_fill(log.size(-1) == 1 ? gone.all(-1, true) : gone, -kInfinity);
    const auto largest = log.detach().amax(axes, true);
    auto phi = (log - largest.masked_fill(largest == -kInfinity, 0)).exp();
    if (factor.defined()) phi = gone.defined() ? (phi * factor).masked_fill(gone, 0) : phi * factor;
    return phi;
  }

  ablate::Rate rate_;
  FeatureKernel kernel_;
  std::int64_t redraw_;
  std::int64_t seed_;  // of later draws
  Tensor features_;    // [heads, rate.slots(max_length), d_head]
};

}  // namespace

ABLATE_COMPRESSION(RandomFeatures,
                   {.id = "random-features",
                    .version = "1.0.0",
                    .summary = "positive, trigonometric or hyperbolic orthogonal random features of the softmax kernel",
                    .paper = "Choromanski et al. 2021, arXiv 2009.14794",
                    .capabilities = {.half_precision = true, .time_exponent = 2, .memory_exponent = 2},
                    .parameters = parameters})
