#include "core/trial/floors/floor_score.h"

#include <cmath>

#include "ablate/word_count.h"
#include "core/trial/objectives/objective.h"
#include "core/util/error.h"

namespace ablate {

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
      main.value = std::exp(score_.loss / static_cast<double>(count));  // as evaluation.cpp tells it
  main.info.name = "test/" + main.info.name;
  return main;
}

}  // namespace ablate
