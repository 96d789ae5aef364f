// Centroids that follow the tokens nearest to them: online k-means of the Routing Transformer (Roy et al. 2021, section 4.1).
// The nearest centroid has the largest product, because all points lie on one ball.
#pragma once

#include <utility>

#include "ablate/blocks.h"

namespace ablate {

/// Projects x onto the ball of radius 1; 0 stays 0.
/// @param x [..., d]
inline Tensor unit_norm(const Tensor& x) { return x / x.norm(2, -1, true).clamp_min(1e-12); }

/// Layer norm without scale and bias. Projects x onto the ball of radius sqrt(d), with channels that add up to 0. Equal
/// channels become 0.
/// @param x [..., d]
inline Tensor layer_normed(const Tensor& x) {
  const auto centred = x - x.mean(-1, true);
  return centred * ((centred * centred).mean(-1, true) + 1e-5).rsqrt();
}

/// Centroids, and their members since the last optimiser step. Call count() in each training pass, and move() after each step.
class Centroids {
 public:
  using Ball = Tensor (*)(const Tensor& x);  ///< unit_norm or layer_normed

  Centroids() = default;
  /// @param places [heads, clusters, d] on the ball: a buffer that the owner registers as never cast, because a moving average
  /// in half precision would not move
  /// @param decay share of a centroid that remains at a step
  Centroids(Tensor places, Ball ball, double decay) : places_(std::move(places)), ball_(ball), decay_(decay) {}

  const Tensor& places() const { return places_; }
  /// [heads, clusters, 1]: members since the last step; undefined if no points were counted.
  const Tensor& counts() const { return counts_; }

  /// Counts points.
  /// @param points [batch, heads, n, d] on the ball, float32 at least
  /// @param group [batch, heads, n] int64, the centroid of each point
  /// @param mask [batch, n] bool: points that are members; undefined: all
  void count(const Tensor& points, const Tensor& group, const Tensor& mask) {
    const NoGradGuard none;
    const auto clusters = places_.size(1);
    if (!sums_.defined()) {
      sums_ = ablate::zeros_like(places_);
      counts_ = ablate::zeros_like(places_.narrow(2, 0, 1));
    }
    const auto own = mask.defined() ? group.masked_fill(mask.logical_not().unsqueeze(1), clusters) : group;
    const auto added = [&](const Tensor& x) { return sum_rows(x.detach(), own, clusters + 1).narrow(2, 0, clusters).sum(0); };
    sums_ += added(points);
    counts_ += added(ones({points.size(0), points.size(1), points.size(2), 1}, points.options().requires_grad(false)));
  }

  /// Moves each centroid towards the mean of its members and back onto the ball, then resets the counts. A centroid without
  /// members stays. It also stays if its members cancel it out, because 0 has no direction.
  void move() {
    if (!sums_.defined()) return;
    const NoGradGuard none;
    const auto mean = sums_ / counts_.clamp_min(1);
    const auto moved = ball_(decay_ * places_ + (1 - decay_) * mean);
    places_.copy_(moved.where((counts_ > 0).logical_and(moved.norm(2, -1, true) > 0), places_));
    sums_ = counts_ = Tensor();
  }

 private:
  Tensor places_;
  Ball ball_ = unit_norm;
  double decay_ = 1;
  Tensor sums_, counts_;
};

}  // namespace ablate
