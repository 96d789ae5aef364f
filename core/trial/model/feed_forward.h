// The part of a layer that computes of each position by itself.
#pragma once

#include <optional>

#include "ablate/module.h"
#include "core/kernels/feed_forward.h"
#include "core/shared/feed_forwards.h"

namespace ablate {

struct ModelOptions;

class FeedForward : public Module {
 public:
  /// @param x [rows, positions, d_model] @return of the same shape and type; without norm, residual and the dropout of its
  /// output
  virtual Tensor forward(const Tensor& x) const = 0;
  /// What core/kernels computes in its place, with the norm before and the residual around it, which the caller fills in; else
  /// nothing.
  virtual std::optional<kernels::FeedForward> kernel() const { return {}; }
};

/// Draws its weights. @param options hidden above 0
using MakeFeedForward = std::shared_ptr<FeedForward> (*)(const ModelOptions& options, const Generator& generator);

/// Each one's, in its own file.
namespace feed_forwards {
#define ABLATE_FEED_FORWARD(file, ...) \
  std::shared_ptr<FeedForward> file(const ModelOptions& options, const Generator& generator);
ABLATE_FEED_FORWARDS(ABLATE_FEED_FORWARD)
#undef ABLATE_FEED_FORWARD
inline constexpr MakeFeedForward kFiles[] = {ABLATE_FEED_FORWARDS(ABLATE_FILE_OF)};
}  // namespace feed_forwards

/// Throws std::invalid_argument for a name that is none of kFeedForwards.
inline MakeFeedForward feed_forward_of(const std::string& name) {
  return file_of_choice(kFeedForwards, feed_forwards::kFiles, name);
}

}  // namespace ablate
