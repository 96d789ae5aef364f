// A simple predictor. A new predictor needs a file in predictors/ and a line here. Torch-free.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/trial/floors/data.h"

namespace ablate {

/// Answer of a predictor for one target.
struct FloorAnswer {
  std::int64_t predicted;  ///< likeliest class; unused if the task is judged by bits
  double nats;             ///< -ln of the target's probability; unused if the task is judged by the share of right answers
};

class Predictor {
 public:
  virtual ~Predictor() = default;
  /// Answers the target with index `at` of the example.
  virtual FloorAnswer answer(const Example& example, std::size_t at, std::int64_t target) const = 0;
};

struct TrainedPredictor {
  std::unique_ptr<Predictor> predictor;
  std::string how = {};      ///< same as FoundFloors::Floor::how
  std::int64_t trained = 0;  ///< same as FoundFloors::Floor::trained
  /// Predictors that dev did not choose, reported beside the chosen one: "order 2" and its predictor.
  std::vector<std::pair<std::string, std::unique_ptr<Predictor>>> others = {};
};

struct PredictorKind {
  const char* name;
  bool (*concerns)(const TaskInfo&);  ///< true if the predictor suits the task
  TrainedPredictor (*train)(const LearnedData&);
};

// clang-format off
/// List of all predictors, by the name of each PredictorKind.
#define ABLATE_PREDICTORS(predictor) \
  predictor(largest_class)           \
  predictor(one_position)            \
  predictor(bag)                     \
  predictor(ngrams)                  \
  predictor(values)                  \
  predictor(neighbours)              \
  predictor(counts)                  \
  predictor(linear_prediction)
// clang-format on

namespace predictors {
#define ABLATE_PREDICTOR(file) extern const PredictorKind file;
ABLATE_PREDICTORS(ABLATE_PREDICTOR)
#undef ABLATE_PREDICTOR
}  // namespace predictors

inline constexpr const PredictorKind* kPredictors[] = {
#define ABLATE_PREDICTOR(file) &predictors::file,
    ABLATE_PREDICTORS(ABLATE_PREDICTOR)
#undef ABLATE_PREDICTOR
};

}  // namespace ablate
