// Feed-forward part of a layer: computes each position separately.
#pragma once

#include <optional>

#include "ablate/module.h"
#include "core/kernels/feed_forward.h"
#include "core/shared/feed_forwards.h"

namespace ablate {

struct ModelOptions;

class FeedForward : public Module {
 public:
  /// Computes the part without norm, residual and the dropout of its output.
  /// @param x [rows, positions, d_model]
  /// @return same shape and type as x
  virtual Tensor forward(const Tensor& x) const = 0;
  /// Returns the part's form in core/kernels, or nullopt. The caller adds the norm before the part and the residual around it.
  virtual std::optional<kernels::FeedForward> kernel() const { return {}; }
};

/// Makes a feed-forward part and draws its weights. `options.hidden` must be above 0.
using MakeFeedForward = std::shared_ptr<FeedForward> (*)(const ModelOptions& options, const Generator& generator);

/// Each part's factory, in its own file.
namespace feed_forwards {
#define ABLATE_FEED_FORWARD(file, ...) \
  std::shared_ptr<FeedForward> file(const ModelOptions& options, const Generator& generator);
ABLATE_FEED_FORWARDS(ABLATE_FEED_FORWARD)
#undef ABLATE_FEED_FORWARD
inline constexpr MakeFeedForward kFiles[] = {ABLATE_FEED_FORWARDS(ABLATE_FILE_OF)};
}  // namespace feed_forwards

/// Returns the factory with that name. Throws std::invalid_argument if kFeedForwards has no such name.
inline MakeFeedForward feed_forward_of(const std::string& name) {
  return file_of_choice(kFeedForwards, feed_forwards::kFiles, name);
}

}  // namespace ablate
