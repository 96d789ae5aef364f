// Softmax regression on how often runs of symbols occur: up to 4 of a small vocabulary, up to 2 of words.
#include "core/trial/floors/predictors/hashed_grams.h"

namespace ablate {
namespace {

constexpr std::int64_t kSmall = 512;

TrainedPredictor train_ngrams(const FloorData& data) {
  const bool is_small = data.info().fields.front().vocabulary <= kSmall;
  return train_regression(data, hashed_features(data.info().classes), grams(data.info(), is_small ? 4 : 2));
}

}  // namespace

const PredictorKind predictors::ngrams = {"linear on n-grams", has_bags, train_ngrams};

}  // namespace ablate
