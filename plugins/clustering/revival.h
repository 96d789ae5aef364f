// Moves a centroid onto a token after some steps without a member. Nothing else moves a centroid without members.
#pragma once

#include "ablate/centroids.h"

namespace ablate::clustering {

/// Call choose() in each training pass, and step() before the centroids move.
class Revival {
 public:
  Revival() = default;  ///< never revives
  /// The owner must register both tensors as buffers that are never cast.
  /// @param idle [heads, clusters, 1]: steps without a member
  /// @param lots [heads, clusters] float64 in [0, 1): random numbers that pick a token for each centroid
  Revival(Tensor idle, Tensor lots, std::int64_t steps) : idle_(std::move(idle)), lots_(std::move(lots)), steps_(steps) {}

  /// Picks a token for each centroid, uniformly from the batch. Also records the centroids that tokens can choose: the first S,
  /// if the longest item has S slots. Padding changes neither result.
  /// @param points [batch, heads, n, d], 0 at masked tokens
  /// @param mask [batch, n] bool, or undefined
  /// @param exists [batch, 1, slots] bool, or undefined: all of them
  void choose(const Tensor& points, const Tensor& mask, const Tensor& exists, std::int64_t slots) {
    if (steps_ == 0) return;
    const NoGradGuard none;
    const auto batch = points.size(0), n = points.size(2), clusters = lots_.size(1);
    Tensor place;
    if (mask.defined()) {
      const auto real = mask.flatten();
      const auto order = real.to(kLong).argsort(true, 0, true);  // real tokens first, in order
      place = order.index_select(0, (lots_ * real.sum()).to(kLong).flatten()).view_as(lots_);
    } else {
      place = (lots_ * (batch * n)).to(kLong);
    }
    const auto all = points.transpose(0, 1).flatten(1, 2);  // [heads, batch * n, d]
    chosen_ = all.gather(1, place.unsqueeze(-1).expand({-1, -1, all.size(2)}));
    auto offered = exists.defined() ? exists.flatten(0, 1).any(0) : ones({slots}, points.options().dtype(kBool));
    offered = pad(offered, {0, clusters - slots}, false).unsqueeze(-1);
    offered_ = offered_.defined() ? offered_.logical_or(offered) : offered;
  }

  /// @param centroids must have counted the members of this step
  /// @param generator source of the next step's lots
  void step(const Centroids& centroids, const Generator& generator) {
    if (!chosen_.defined()) return;
    const NoGradGuard none;
    const auto alone = (centroids.counts() == 0).logical_and(offered_);
    idle_.copy_((idle_ + 1).where(alone, idle_).masked_fill(centroids.counts() > 0, 0));
    // A token of all zeros has no direction.
    const auto revived = alone.logical_and(idle_ >= steps_).logical_and(chosen_.norm(2, -1, true) > 0);
    auto places = centroids.places();
    places.copy_(chosen_.to(places.scalar_type()).where(revived, places));
    idle_.masked_fill_(revived, 0);
    lots_.uniform_(0, 1, generator);
    chosen_ = offered_ = Tensor();
  }

 private:
  Tensor idle_, lots_;
  std::int64_t steps_ = 0;
  Tensor chosen_;   // [heads, clusters, d]: the token picked for each centroid in the last pass
  Tensor offered_;  // [clusters, 1] bool: the centroids that could be chosen since the last step
};

}  // namespace ablate::clustering
