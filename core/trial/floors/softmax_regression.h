// Softmax regression on sparse features (McCullagh and Nelder 1989, 5.2.4), trained by AdaGrad (Duchi, Hazan and Singer 2011,
// Eq. 1).
#pragma once

#include <functional>

#include "core/trial/floors/predictor.h"

namespace ablate {

struct SparseFeature {
  std::uint32_t index;
  float value;
};

/// What is told a regression of the target at `at`: adds features with indices below its number of them.
using Extract = std::function<void(const Example& example, std::size_t at, std::vector<SparseFeature>& features)>;

/// The most classes that a regression is trained for.
inline constexpr std::int64_t kMostRegressed = 1024;

/// Trains one: the rate and the number of passes are those that are best on dev, which regularises it.
/// @param features how many, without the constant, which is added
TrainedPredictor train_regression(const LearnedData& data, std::size_t features, Extract extract);

}  // namespace ablate
