#include "core/trial/floors/floors.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "ablate/word_count.h"
#include "core/trial/floors/predictor.h"
#include "core/trial/objectives/objective.h"
#include "core/trial/objectives/scores.h"
#include "core/util/error.h"

namespace ablate {
namespace {

class FloorScore {
 public:
  FloorScore(const Task& task, const TaskInfo& info) : task_(task), info_(info) {}
  void add(const Predictor& predictor, const Example& example);
  /// Returns the value of the first metric of the task's objective, for example "test/accuracy".
  /// @param positions number of examples or positions read. Throws Error if there was no target.
  Scored result(std::int64_t positions) const;

 private:
  const Task& task_;
  const TaskInfo& info_;
  Score score_;
};

void FloorScore::add(const Predictor& predictor, const Example& example) {
  double asked = 0, met = 0;
  each_target_of(example, [&](std::size_t at, std::int64_t target) {
    const auto [predicted, nats] = predictor.answer(example, at, target);
    ++asked;
    met += predicted == target ? 1 : 0;
    score_.loss += nats;
  });
  score_.targets += asked;
  score_.right += met;
  score_.sequences += asked > 0 ? 1 : 0;
  score_.all_right += asked > 0 && met == asked ? 1 : 0;
}

Scored FloorScore::result(std::int64_t positions) const {
  if (score_.targets == 0) throw Error("the task's test split has no examples with a target");
  auto main = make_objective(info_)->metrics(score_).front();
  if (const auto* words = dynamic_cast<const WordCount*>(&task_); words != nullptr && main.info.name == "perplexity")
    if (const auto count = words->words(Split::kTest, positions); count > 0)
      main.value = std::exp(score_.loss / static_cast<double>(count));  // same as in evaluation.cpp
  main.info.name = "test/" + main.info.name;
  return main;
}

/// Returns the processor time of this process, so that other work on the machine does not matter.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

constexpr double kLatest = 0.75;  // share of the time after which no predictor begins, because it might not finish

}  // namespace

FoundFloors find_floors(const Task& task, const TaskInfo& info, const ExampleRows& rows, double seconds) {
  const double begun = processor_seconds();
  const FloorData data(task, info, rows);
  FoundFloors found;
  found.train_size = task.size(Split::kTrain), found.seen = data.seen();
  found.is_stream = info.sampling == Sampling::kStream;
  for (const auto* kind : kPredictors) {
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
    found.metric = scored.info.name, found.unit = scored.info.unit;
    FoundFloors::Floor floor{kind->name, trained.how, scored.value, trained.trained, {}};
    for (std::size_t i = 1; i < scores.size(); ++i)
      floor.others +=
          fmt::format("{}{}: {:.4g}", i == 1 ? "" : ", ", trained.others[i - 1].first, scores[i].result(found.examples).value);
    found.floors.push_back(std::move(floor));
  }
  return found;
}

}  // namespace ablate
