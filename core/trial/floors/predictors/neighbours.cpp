// Softmax regression on the contents of a target's position and of its neighbours.
#include "core/shared/objectives.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/softmax_regression.h"

namespace ablate {
namespace {

constexpr std::ptrdiff_t kReach = 2;
constexpr std::size_t kBesideBuckets = 1 << 14, kMostReals = 64;

bool concerns_neighbours(const TaskInfo& info) {
  return asks_of(info.objective).in_place() && info.unit.empty() && info.classes <= kMostRegressed;
}

TrainedPredictor train_neighbours(const LearnedData& data) {
  const auto& info = data.info();
  const auto extract = [&info](const Example& example, std::size_t at, std::vector<SparseFeature>& features) {
    for (auto beside = -kReach; beside <= (info.causal ? 0 : kReach); ++beside) {
      const auto position = static_cast<std::ptrdiff_t>(at) + beside;
      if (position < 0 || position >= std::ssize(example.targets) ||
          example.present[0][static_cast<std::size_t>(position)] == 0)
        continue;
      const auto from = static_cast<std::size_t>(position), turn = static_cast<std::size_t>(beside + kReach);
      for (std::size_t field = 0; field < info.fields.size(); ++field) {
        const auto seed = mixed(turn, field);
        if (info.fields[field].vocabulary > 0) {
          const auto id = static_cast<std::uint64_t>(example.ids[field][from]);
          features.push_back({static_cast<std::uint32_t>(mixed(seed, id) % kBesideBuckets), 1});
          continue;
        }
        const auto reals = static_cast<std::size_t>(info.fields[field].reals);
        for (std::size_t i = 0; i < std::min(reals, kMostReals); ++i)
          features.push_back(
              {static_cast<std::uint32_t>(mixed(seed, i) % kBesideBuckets), example.reals[field][from * reals + i]});
      }
    }
  };
  return train_regression(data, kBesideBuckets, extract);
}

}  // namespace

const PredictorKind predictors::neighbours = {"linear on neighbours", concerns_neighbours, train_neighbours};

}  // namespace ablate
