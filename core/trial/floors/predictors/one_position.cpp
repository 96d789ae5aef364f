// The commonest label of what stands at one position, the one that is best on dev.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "core/shared/objectives.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/predictor.h"

namespace ablate {
namespace {

constexpr std::int64_t kMostShown = 1 << 24;
constexpr std::size_t kMostPositions = 512, kRanges = 16;

class OnePosition final : public Predictor {
 public:
  OnePosition(std::shared_ptr<const Symbols> symbols, std::size_t part, std::size_t at, const std::vector<Example>& train,
              std::size_t classes)
      : symbols_(std::move(symbols)), part_(part), at_(at) {
    std::unordered_map<std::uint64_t, std::vector<std::int64_t>> counts;
    std::vector<std::int64_t> all(classes);
    for (const auto& example : train) {
      const auto label = static_cast<std::size_t>(example.targets.front());
      auto& here = counts[symbol_of(example)];
      here.resize(classes);
      ++here[label], ++all[label];
    }
    const auto most = [](const auto& of) { return std::max_element(of.begin(), of.end()) - of.begin(); };
    for (const auto& [symbol, of] : counts) labels_[symbol] = most(of);
    rest_ = most(all);
  }

  FloorAnswer answer(const Example& example, std::size_t, std::int64_t) const override {
    const auto found = labels_.find(symbol_of(example));
    return {found == labels_.end() ? rest_ : found->second, 0};  // such tasks are judged by the share met
  }

  std::int64_t right(const std::vector<Example>& examples) const {
    return std::ranges::count_if(
        examples, [&](const auto& example) { return answer(example, 0, 0).predicted == example.targets.front(); });
  }

 private:
  std::uint64_t symbol_of(const Example& example) const {
    return symbols_->present(example, part_, at_) ? (*symbols_)(example, part_, at_) : ~std::uint64_t{0};
  }

  std::shared_ptr<const Symbols> symbols_;
  std::size_t part_, at_;
  std::unordered_map<std::uint64_t, std::int64_t> labels_;
  std::int64_t rest_ = 0;
};

bool concerns_class(const TaskInfo& info) { return !asks_of(info.objective).each && info.classes <= 4096; }

TrainedPredictor train_one_position(const FloorData& data) {
  const auto& info = data.info();
  std::vector<Example> train, dev;
  const auto trained = data.train(kMostShown, [&](const Example& example) { train.push_back(example); });
  data.dev(kMostShown / 8, [&](const Example& example) { dev.push_back(example); });
  const auto symbols = std::make_shared<const Symbols>(info, train, kRanges);
  const auto classes = static_cast<std::size_t>(info.classes), length = static_cast<std::size_t>(info.length);
  // Of a long sequence all over it, the beginning densely.
  const auto positions = std::min(length, kMostPositions);
  TrainedPredictor best{.trained = trained};
  std::int64_t most = -1;
  for (std::size_t part = 0; part < symbols->parts(); ++part)
    for (std::size_t i = 0; i < positions; ++i) {
      const auto at =
          i < positions / 2 ? i : i + (i - positions / 2) * (length - positions) / std::max(positions / 2, std::size_t{1});
      auto table = std::make_unique<OnePosition>(symbols, part, at, train, classes);
      const auto right = table->right(dev);
      if (right <= most) continue;
      most = right;
      best.predictor = std::move(table);
      const auto& field = info.fields[part % info.fields.size()].name;
      best.how = fmt::format("{} at {}{}", field, at,
                             info.sequences == 2 ? fmt::format(" of sequence {}", part / info.fields.size()) : "");
    }
  return best;
}

}  // namespace

const PredictorKind predictors::one_position = {"label at one position", concerns_class, train_one_position};

}  // namespace ablate
