// Answers the commonest label for the content of one position. Dev chooses the position.
#include <fmt/format.h>

#include <algorithm>

#include "core/shared/objectives.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/predictor.h"

namespace ablate {
namespace {

constexpr std::int64_t kMostShown = 1 << 24;
constexpr std::size_t kMostPositions = 512;

class OnePosition final : public Predictor {
 public:
  explicit OnePosition(LabelTable table) : table_(std::move(table)) {}
  FloorAnswer answer(const Example& example, std::size_t at, std::int64_t) const override {
    return {table_(example, at), 0};  // 0: these tasks are judged by the share of right answers
  }

 private:
  LabelTable table_;
};

bool concerns_class(const TaskInfo& info) { return !asks_of(info.objective).each && info.classes <= 4096; }

TrainedPredictor train_one_position(const LearnedData& data) {
  const auto& info = data.info();
  std::vector<Example> train, dev;
  const auto trained = data.train(kMostShown, [&](const Example& example) { train.push_back(example); });
  data.dev(kMostShown / 8, [&](const Example& example) { dev.push_back(example); });
  const auto symbols = std::make_shared<const Symbols>(info, train, kRanges);
  const auto length = static_cast<std::size_t>(info.length), positions = std::min(length, kMostPositions);
  std::vector<Feature> features;
  for (std::size_t part = 0; part < symbols->parts(); ++part)
    for (std::size_t i = 0; i < positions; ++i) {
      // In a long sequence positions are spread over all of it, densely at the beginning.
      const auto at =
          i < positions / 2 ? i : i + (i - positions / 2) * (length - positions) / std::max(positions / 2, std::size_t{1});
      const auto of = info.sequences == 2 ? fmt::format(" of sequence {}", part / info.fields.size()) : "";
      features.push_back({fmt::format("{} at {}{}", info.fields[part % info.fields.size()].name, at, of),
                          [=](const Example& example, std::size_t) {
                            if (!symbols->present(example, part, at)) return kNothing;
                            return static_cast<double>(mixed(0, (*symbols)(example, part, at)) >> 11);  // 53 bits: exact
                          }});
    }
  const auto shown = pointers_to(train);
  const auto& best = best_feature(features, shown, pointers_to(dev));
  return {std::make_unique<OnePosition>(LabelTable(best, shown)), best.name, trained};
}

}  // namespace

const PredictorKind predictors::one_position = {"label at one position", concerns_class, train_one_position};

}  // namespace ablate
