// Softmax regression on sparse features (McCullagh and Nelder 1989, 5.2.4), by AdaGrad (Duchi, Hazan and Singer 2011, Eq. 1).
#pragma once

#include <functional>

#include "core/trial/floors/predictor.h"

namespace ablate {

struct SparseFeature {
  std::uint32_t index;
  float value;
};

/// Adds the features of an example's target `at`. Indices must be below the number of features.
using Extract = std::function<void(const Example& example, std::size_t at, std::vector<SparseFeature>& features)>;

/// Largest number of classes for a regression.
inline constexpr std::int64_t kMostRegressed = 1024;

/// Trains a regression. Dev chooses the rate and the number of passes. Fewer passes regularise the weights.
/// @param features number of features, without the constant feature that each target also gets
TrainedPredictor train_regression(const LearnedData& data, std::size_t features, Extract extract);

}  // namespace ablate
