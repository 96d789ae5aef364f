// A predictor of a few lines. A new one is a file in predictors/, and a line here. Torch-free.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/trial/floors/data.h"

namespace ablate {

/// What is answered to a target.
struct FloorAnswer {
  std::int64_t predicted;  ///< the likeliest class; where the task is judged by bits, any
  double nats;             ///< -ln of the target's probability; where it is judged by the share met, any
};

class Predictor {
 public:
  virtual ~Predictor() = default;
  /// To the target at `at` among the example's.
  virtual FloorAnswer answer(const Example& example, std::size_t at, std::int64_t target) const = 0;
};

struct TrainedPredictor {
  std::unique_ptr<Predictor> predictor;
  std::string how = {};      ///< as FoundFloors::Floor
  std::int64_t trained = 0;  ///< as FoundFloors::Floor
  /// Predictors that dev did not choose, reported beside it: "order 2" and its predictor.
  std::vector<std::pair<std::string, std::unique_ptr<Predictor>>> others = {};
};

struct PredictorKind {
  const char* name;
  bool (*concerns)(const TaskInfo&);  ///< whether it means something for such a task
  TrainedPredictor (*train)(const LearnedData&);
};

// clang-format off
/// File and kind.
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
