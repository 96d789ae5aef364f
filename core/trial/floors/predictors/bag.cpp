// Softmax regression on how often each symbol occurs.
#include "core/trial/floors/predictors/hashed_grams.h"

namespace ablate {
namespace {

TrainedPredictor train_bag(const FloorData& data) {
  return train_regression(data, hashed_features(data.info().classes), grams(data.info(), 1));
}

}  // namespace

const PredictorKind predictors::bag = {"linear on a bag", has_bags, train_bag};

}  // namespace ablate
