// k-means on the unit ball (Routing Transformer, Roy et al. 2021): slot j is the mean of the tokens nearest to centroid j.
#include <stdexcept>
#include <string>
#include <vector>

#include "ablate/landmarks.h"
#include "ablate/padding.h"

namespace {

using ablate::clear_padding;
using ablate::existing_slots;
using ablate::Memory;
using ablate::Tensor;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("iterations", "1", {1, 20}, "Lloyd steps on each sequence, from the shared centroids"),
    ablate::real("decay", "0.999", {0, 1}, "share of a centroid that an optimiser step keeps; 1 never moves it"),
};

constexpr std::int64_t kChunk = 1024;  // tokens whose scores against all centroids exist at one time

/// Onto the unit ball; 0 stays 0. @param x [..., d]
Tensor unit(const Tensor& x) { return x / x.norm(2, -1, true).clamp_min(1e-12); }

/// [batch, heads, n, 1]
Tensor ones_of(const Tensor& x) { return ablate::ones({x.size(0), x.size(1), x.size(2), 1}, x.options().requires_grad(false)); }

/// Sums by group. @param x [batch, heads, n, d] @param group [batch, heads, n] in [0, groups]; tokens of `groups` are dropped
/// @return [batch, heads, groups, d]
Tensor group_sums(const Tensor& x, const Tensor& group, std::int64_t groups) {
  const auto rows = x.size(0) * x.size(1), d = x.size(3);
  const auto offset = ablate::arange(rows, group.options()).view({x.size(0), x.size(1), 1}) * (groups + 1);
  const auto index = (group + offset).view({-1, 1}).expand({-1, d});
  return ablate::zeros({rows * (groups + 1), d}, x.options())
      .scatter_add(0, index, x.reshape({-1, d}))
      .view({x.size(0), x.size(1), groups + 1, d})
      .narrow(2, 0, groups);
}

class Clustering final : public ablate::LandmarkCompression {
 public:
  explicit Clustering(const ablate::CompressionContext& context)
      : LandmarkCompression(context),
        iterations_(context.parameters.integer("iterations")),
        decay_(context.parameters.real("decay")) {
    const auto count = slots().of(context.max_length);
    // Never cast: in half precision a moving average would stand still.
    centroids_ = register_buffer("centroids", unit(ablate::randn({context.heads, count, context.d_head}, context.generator)),
                                 {.type = true});
  }

 private:
  Memory do_write(const ablate::WriteInput& input) override {
    const auto &keys = input.keys, &values = input.values, &mask = input.mask;
    if (keys.size(1) != centroids_.size(0) || keys.size(3) != centroids_.size(2))
      throw std::invalid_argument("clustering was made for " + std::to_string(centroids_.size(0)) + " heads of " +
                                  std::to_string(centroids_.size(2)) + " channels, and was given " +
                                  std::to_string(keys.size(1)) + " of " + std::to_string(keys.size(3)));
    const auto count = slots().of(keys.size(2));
    // Sums over a sequence leave the range of half precision, and its digits.
    const auto type = keys.scalar_type();
    const auto wide = c10::isReducedFloatingType(type) ? ablate::kFloat : type;
    const auto k = clear_padding(keys, mask).to(wide), v = clear_padding(values, mask).to(wide);
    Memory memory;
    memory.slots = existing_slots(slots(), mask);
    const auto group = assign(k.detach(), mask, memory.slots);
    const auto mass = group_sums(ones_of(k), group, count);
    const auto divisor = mass.clamp_min(1);
    memory.mass = mass.squeeze(-1).to(type);
    memory.keys = (group_sums(k, group, count) / divisor).to(type);
    memory.values = (group_sums(v, group, count) / divisor).to(type);
    return memory;
  }

  void do_step(std::int64_t, const ablate::Generator&) override {
    if (!is_training() || !sums_.defined()) return;
    ablate::NoGradGuard no_grad;
    const auto mean = sums_ / counts_.clamp_min(1);
    const auto moved = decay_ * centroids_ + (1 - decay_) * mean;
    // A centroid without members keeps its place, and so does one whose members cancel it out: 0 has no direction.
    const auto moves = (counts_ > 0).logical_and(moved.norm(2, -1, true) > 0);
    centroids_.copy_(unit(moved).where(moves, centroids_));
    sums_ = counts_ = Tensor();
  }

  /// The group of every token: [batch, heads, n], `slots` for padding. In training also counts the members of each centroid.
  Tensor assign(const Tensor& keys, const Tensor& mask, const Tensor& exists) {
    ablate::NoGradGuard no_grad;
    const auto count = slots().of(keys.size(2));
    const auto points = unit(keys);
    auto centres = centroids_.narrow(1, 0, count).to(keys.scalar_type()).unsqueeze(0);  // [1 or batch, heads, slots, d]
    Tensor group;
    for (std::int64_t i = 0; i < iterations_; ++i) {
      if (i > 0) {
        const auto sums = group_sums(points, group, count);
        centres = unit(sums).where(sums.norm(2, -1, true) > 0, centres);
      }
      std::vector<Tensor> parts;
      for (const auto& part : points.split(kChunk, 2)) {
        // On the unit ball, nearest is the largest dot product.
        auto likeness = part.matmul(centres.transpose(-1, -2));
        if (exists.defined()) likeness = likeness.masked_fill(exists.logical_not().unsqueeze(2), -2);
        parts.push_back(likeness.argmax(-1));
      }
      group = ablate::cat(parts, 2);
      if (mask.defined()) group = group.masked_fill(mask.logical_not().unsqueeze(1), count);
    }
    if (is_training()) count_members(points, group, count);
    return group;
  }

  void count_members(const Tensor& points, const Tensor& group, std::int64_t count) {
    if (!sums_.defined()) {
      sums_ = ablate::zeros_like(centroids_);
      counts_ = ablate::zeros_like(centroids_.narrow(2, 0, 1));
    }
    sums_.narrow(1, 0, count) += group_sums(points, group, count).sum(0);
    counts_.narrow(1, 0, count) += group_sums(ones_of(points), group, count).sum(0);
  }

  std::int64_t iterations_;
  double decay_;
  Tensor centroids_;      // [heads, slots.of(max_length), d_head]
  Tensor sums_, counts_;  // members' unit keys and their number since the last step: [heads, slots, d_head], [heads, slots, 1]
};

}  // namespace

ABLATE_COMPRESSION(Clustering, {.id = "clustering",
                                .version = "1.0.0",
                                .summary = "the mean of each cluster of alike tokens (k-means on the unit ball)",
                                .paper = "Roy et al. 2021, arXiv 2003.05997, section 4.1",
                                .capabilities = {.slots_have_keys = true,
                                                 .averages = true,
                                                 .beside_tokens = true,
                                                 .half_precision = true,
                                                 .time_exponent = 2},
                                .parameters = parameters})
