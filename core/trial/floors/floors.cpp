#include "core/trial/floors/floors.h"

#include <fmt/format.h>

#include <ctime>

#include "core/trial/floors/floor_score.h"
#include "core/trial/floors/predictor.h"

namespace ablate {
namespace {

/// Of this process: what else the machine does makes no predictor worse.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr double kLatest = 0.75;  // of the time: what begins later might not end
constexpr const PredictorKind* kKinds[] = {
#define ABLATE_PREDICTOR(file) &predictors::file,
    ABLATE_PREDICTORS(ABLATE_PREDICTOR)
#undef ABLATE_PREDICTOR
};

}  // namespace

Floors find_floors(const Task& task, const TaskInfo& info, const ExampleRows& rows, double seconds) {
  const double begun = processor_seconds();
  const FloorData data(task, info, rows);
  Floors found{.train_size = task.size(Split::kTrain), .seen = data.seen()};
  for (const auto* kind : kKinds) {
    if (!kind->concerns(info)) continue;
    if (processor_seconds() - begun > kLatest * seconds) {
      found.left_out.emplace_back(kind->name);
      continue;
    }
    auto trained = kind->train(data);
    std::vector<FloorScore> scores(1 + trained.others.size(), FloorScore(task, info));
    found.examples = data.test([&](const Example& example) {
      scores[0].add(*trained.predictor, example);
      for (std::size_t i = 1; i < scores.size(); ++i) scores[i].add(*trained.others[i - 1].second, example);
    });
    const auto scored = scores[0].result(found.examples);
    found.metric = scored.info;
    Floor floor{kind->name, trained.how, scored.value, trained.trained};
    for (std::size_t i = 1; i < scores.size(); ++i)
      floor.others +=
          fmt::format("{}{}: {:.4g}", i == 1 ? "" : ", ", trained.others[i - 1].first, scores[i].result(found.examples).value);
    found.all.push_back(std::move(floor));
  }
  return found;
}

}  // namespace ablate
