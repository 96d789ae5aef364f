// Always answers the most frequent class.
#include <cmath>
#include <set>

#include "core/records/floor_texts.h"
#include "core/trial/floors/predictor.h"

namespace ablate {
namespace {

class LargestClass final : public Predictor {
 public:
  explicit LargestClass(std::size_t classes) : counts_(classes, 1) {}  // counts start at 1: every class is possible
  void add(std::int64_t label) {
    ++counts_[static_cast<std::size_t>(label)], ++all_;
    if (counts_[static_cast<std::size_t>(label)] > counts_[static_cast<std::size_t>(largest_)]) largest_ = label;
  }
  FloorAnswer answer(const Example&, std::size_t, std::int64_t target) const override {
    return {largest_, -std::log(counts_[static_cast<std::size_t>(target)] / (all_ + static_cast<double>(counts_.size())))};
  }

 private:
  std::vector<double> counts_;
  double all_ = 0;
  std::int64_t largest_ = 0;
};

/// Leaves out tasks judged by bits. For these tasks, order 1 of counts.cpp is the same predictor.
bool concerns_share(const TaskInfo& info) { return info.unit.empty(); }

TrainedPredictor train_largest_class(const LearnedData& data) {
  auto made = std::make_unique<LargestClass>(static_cast<std::size_t>(data.info().classes));
  const auto trained = data.train(1 << 25, [&](const Example& example) {
    each_target_of(example, [&](std::size_t, std::int64_t target) { made->add(target); });
  });
  std::set<std::int64_t> of_dev;
  data.dev(1 << 25, [&](const Example& example) {
    each_target_of(example, [&](std::size_t, std::int64_t target) { of_dev.insert(target); });
  });
  return {std::move(made), of_dev.size() == 1 ? kDevOfOneClass : "", trained};
}

}  // namespace

const PredictorKind predictors::largest_class = {"largest class", concerns_share, train_largest_class};

}  // namespace ablate
