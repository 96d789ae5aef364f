// k-means on a ball (Routing Transformer, Roy et al. 2021): slot j is the mean of the tokens nearest to centroid j. README.md
// lists how the default update differs from the paper's.
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "ablate/centroids.h"
#include "ablate/landmarks.h"
#include "ablate/masked_softmax.h"
#include "ablate/padding.h"
#include "revival.h"

namespace {

using ablate::clear_padding;
using ablate::existing_slots;
using ablate::Memory;
using ablate::sum_rows;
using ablate::Tensor;
using ablate::widened;
using ablate::WriteInput;

constexpr ablate::Parameter parameters[] = {
    ablate::integer("iterations", "1", {1, 20}, "Lloyd steps on each sequence, from the shared centroids"),
    ablate::real("decay", "0.999", {0, 1}, "share of a centroid that an optimiser step keeps; 1 never moves it"),
    ablate::text("norm", "\"unit\"", "unit|layer",
                 "norm that projects keys onto the ball: unit length, or layer norm without scale, as in the paper"),
    ablate::boolean("queries", "false", "queries move the centroids, too, if the attention passes them"),
    ablate::integer("revive", "0", {0, 1000000},
                    "steps without a member after which a centroid moves to a random token; 0: never", "steps"),
};

constexpr std::int64_t kChunk = 1024;  // tokens that are scored against all centroids at one time

/// [batch, heads, n, 1]
Tensor ones_of(const Tensor& x) { return ablate::ones({x.size(0), x.size(1), x.size(2), 1}, x.options().requires_grad(false)); }

class Clustering final : public ablate::LandmarkCompression {
 public:
  explicit Clustering(const ablate::CompressionContext& context)
      : LandmarkCompression(context),
        iterations_(context.parameters.integer("iterations")),
        ball_(context.parameters.text("norm") == "layer" ? ablate::layer_normed : ablate::unit_norm),
        queries_(context.parameters.boolean("queries")) {
    const auto count = slots().of(context.max_length);
    const auto places = ball_(ablate::randn({context.heads, count, context.d_head}, context.generator));
    centroids_ = {register_buffer("centroids", places, {.type = true}), ball_, context.parameters.real("decay")};
    if (const auto steps = context.parameters.integer("revive"); steps > 0)
      revival_ = {register_buffer("idle", ablate::zeros({context.heads, count, 1}), {.type = true}),
                  register_buffer("lots", first_lots(context.heads, count, context.generator), {.type = true}), steps};
  }

 private:
  static Tensor first_lots(std::int64_t heads, std::int64_t count, const ablate::Generator& generator) {
    return ablate::empty({heads, count}, ablate::kDouble).uniform_(0, 1, generator);
  }

  Memory do_write(const WriteInput& input) override {
    const auto &keys = input.keys, &values = input.values, &mask = input.mask;
    const auto& places = centroids_.places();
    if (keys.size(1) != places.size(0) || keys.size(3) != places.size(2))
      throw std::invalid_argument("clustering was made for " + std::to_string(places.size(0)) + " heads of " +
                                  std::to_string(places.size(2)) + " channels, and was given " + std::to_string(keys.size(1)) +
                                  " of " + std::to_string(keys.size(3)));
    // Sums over a sequence can exceed the range and precision of half precision.
    const auto type = keys.scalar_type();
    const auto k = clear_padding(widened(keys), mask), v = clear_padding(widened(values), mask);
    const auto count = slots().of(keys.size(2));
    Memory memory;
    memory.slots = existing_slots(slots(), mask);
    const auto group = assign(k.detach(), memory.slots, input);
    const auto sums = [&](const Tensor& x) { return sum_rows(x, group, count + 1).narrow(2, 0, count); };
    const auto mass = sums(ones_of(k));
    const auto divisor = mass.clamp_min(1);
    memory.mass = mass.squeeze(-1).to(type);
    memory.keys = (sums(k) / divisor).to(type);
    memory.values = (sums(v) / divisor).to(type);
    return memory;
  }

  void do_step(std::int64_t, const ablate::Generator& generator) override {
    if (!is_training() || !centroids_.counts().defined()) return;
    revival_.step(centroids_, generator);
    centroids_.move();
  }

  /// Returns each token's slot, [batch, heads, n]; for padding, the number of slots. In training, counts centroids' members.
  Tensor assign(const Tensor& keys, const Tensor& exists, const WriteInput& input) {
    ablate::NoGradGuard no_grad;
    const auto& mask = input.mask;
    const auto count = slots().of(keys.size(2));
    const auto points = ball_(keys);
    auto centres =
        centroids_.places().narrow(1, 0, count).to(keys.scalar_type()).unsqueeze(0);  // [1 or batch, heads, slots, d]
    Tensor group;
    for (std::int64_t i = 0; i < iterations_; ++i) {
      if (i > 0) {
        const auto moved = ball_(sum_rows(points, group, count + 1).narrow(2, 0, count));
        centres = moved.where(moved.norm(2, -1, true) > 0, centres);
      }
      group = nearest(points, centres, exists);
      if (mask.defined()) group = group.masked_fill(mask.logical_not().unsqueeze(1), count);
    }
    if (is_training()) {
      centroids_.count(points, group, mask);
      revival_.choose(points, mask, exists, count);
      if (queries_ && input.queries.defined()) {
        const auto asking = ball_(clear_padding(widened(input.queries), input.query_mask));
        centroids_.count(asking, nearest(asking, centres, exists), input.query_mask);
      }
    }
    return group;
  }

  /// Returns the index of each point's nearest centre, [batch, heads, n]: on a ball, the centre with the largest dot product.
  /// @param points [batch, heads, n, d]
  /// @param centres [1 or batch, heads, slots, d]
  /// @param exists [batch, 1, slots] bool, or undefined: all
  static Tensor nearest(const Tensor& points, const Tensor& centres, const Tensor& exists) {
    std::vector<Tensor> parts;
    for (const auto& part : points.split(kChunk, 2)) {
      auto likeness = part.matmul(centres.transpose(-1, -2));
      if (exists.defined()) likeness = likeness.masked_fill(exists.logical_not().unsqueeze(2), kNowhere);
      parts.push_back(likeness.argmax(-1));
    }
    return ablate::cat(parts, 2);
  }

  static constexpr float kNowhere = std::numeric_limits<float>::lowest();
  std::int64_t iterations_;
  ablate::Centroids::Ball ball_;
  bool queries_;
  ablate::Centroids centroids_;  // [heads, slots.of(max_length), d_head]
  ablate::clustering::Revival revival_;
};

}  // namespace

ABLATE_COMPRESSION(Clustering, {.id = "clustering",
                                .version = "1.1.0",
                                .summary = "the mean of each cluster of similar tokens (k-means on a ball)",
                                .paper = "Roy et al. 2021, arXiv 2003.05997, section 4.1",
                                .capabilities = {.slots_have_keys = true,
                                                 .averages = true,
                                                 .beside_tokens = true,
                                                 .half_precision = true,
                                                 .time_exponent = 2},
                                .parameters = parameters})
