#include "core/trial/floors/softmax_regression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/trial/training/order.h"

namespace ablate {
namespace {

constexpr float kRates[] = {0.03F, 0.1F, 0.3F};
constexpr std::size_t kMostFeatures = 1 << 24, kMostOfDev = 1 << 21;  // of all examples together, 8 bytes each
constexpr std::int64_t kMostRead = 1 << 25;
constexpr double kMostWork = 1e9;  // features x classes, summed over all passes at one rate
constexpr int kMostPasses = 30;

/// Examples as their features, one after the other.
struct SparseRows {
  std::vector<std::size_t> begins = {0};
  std::vector<SparseFeature> features;
  std::vector<std::int64_t> targets;

  std::size_t size() const { return targets.size(); }
  std::span<const SparseFeature> row(std::size_t i) const {
    return std::span(features).subspan(begins[i], begins[i + 1] - begins[i]);
  }
};

class Regression final : public Predictor {
 public:
  Regression(std::size_t features, std::size_t classes, Extract extract)
      : classes_(classes), constant_(features), extract_(std::move(extract)), weights_((features + 1) * classes) {}

  void extract(const Example& example, std::size_t at, std::vector<SparseFeature>& features) const {
    features.clear();
    extract_(example, at, features);
    features.push_back({static_cast<std::uint32_t>(constant_), 1});
  }

  /// Computes ln p of each class.
  void logarithms(std::span<const SparseFeature> features, std::vector<float>& out) const {
    out.assign(classes_, 0);
    for (const auto& [index, value] : features) {
      const auto* row = &weights_[index * classes_];
      for (std::size_t label = 0; label < classes_; ++label) out[label] += value * row[label];
    }
    const auto most = *std::max_element(out.begin(), out.end());
    float sum = 0;
    for (const auto score : out) sum += std::exp(score - most);
    for (auto& score : out) score -= most + std::log(sum);
  }

  void begin() { squares_.assign(weights_.size(), 1e-6F), std::fill(weights_.begin(), weights_.end(), 0.0F); }
  void end() { squares_ = {}; }

  void step(std::span<const SparseFeature> features, std::int64_t target, float rate) {
    logarithms(features, scores_);
    for (auto& score : scores_) score = std::exp(score);
    scores_[static_cast<std::size_t>(target)] -= 1;
    for (const auto& [index, value] : features) {
      auto *const row = &weights_[index * classes_], *const squares = &squares_[index * classes_];
      for (std::size_t label = 0; label < classes_; ++label) {
        const float gradient = value * scores_[label];
        squares[label] += gradient * gradient;
        row[label] -= rate * gradient / std::sqrt(squares[label]);
      }
    }
  }

  FloorAnswer answer(std::span<const SparseFeature> features, std::int64_t target, std::vector<float>& scratch) const {
    logarithms(features, scratch);
    return {std::max_element(scratch.begin(), scratch.end()) - scratch.begin(),
            -static_cast<double>(scratch[static_cast<std::size_t>(target)])};
  }
  FloorAnswer answer(const Example& example, std::size_t at, std::int64_t target) const override {
    std::vector<SparseFeature> features;
    std::vector<float> scratch;
    extract(example, at, features);
    return answer(features, target, scratch);
  }

  std::vector<float>& weights() { return weights_; }

 private:
  std::size_t classes_, constant_;
  Extract extract_;
  std::vector<float> weights_, squares_, scores_;
};

/// Adds an example unless the rows already have `most` features. Returns true if the example was added.
bool add_rows(const Regression& regression, const Example& example, std::size_t most, SparseRows& rows) {
  if (rows.features.size() >= most) return false;
  std::vector<SparseFeature> features;
  each_target_of(example, [&](std::size_t at, std::int64_t target) {
    regression.extract(example, at, features);
    rows.features.insert(rows.features.end(), features.begin(), features.end());
    rows.begins.push_back(rows.features.size());
    rows.targets.push_back(target);
  });
  return true;
}

/// Returns the error on dev, for comparison: wrong answers (0 if the task is judged by bits), then nats.
std::pair<double, double> badness(const Regression& regression, const SparseRows& dev, bool by_share) {
  double missed = 0, nats = 0;
  std::vector<float> scratch;
  for (std::size_t i = 0; i < dev.size(); ++i) {
    const auto [predicted, cost] = regression.answer(dev.row(i), dev.targets[i], scratch);
    missed += predicted == dev.targets[i] ? 0 : 1;
    nats += cost;
  }
  return {by_share ? missed : 0, nats};
}

}  // namespace

TrainedPredictor train_regression(const LearnedData& data, std::size_t features, Extract extract) {
  const auto classes = static_cast<std::size_t>(data.info().classes);
  auto regression = std::make_unique<Regression>(features, classes, std::move(extract));
  SparseRows train, dev;
  std::int64_t trained = 0;
  const bool is_stream = data.info().sampling == Sampling::kStream;
  data.train(kMostRead, [&](const Example& example) {
    const auto before = std::ssize(train.targets);
    if (add_rows(*regression, example, kMostFeatures, train)) trained += is_stream ? std::ssize(train.targets) - before : 1;
  });
  data.dev(kMostRead / 4, [&](const Example& example) { add_rows(*regression, example, kMostOfDev, dev); });

  const auto work = static_cast<double>(train.features.size() * classes);
  const int passes = std::clamp(static_cast<int>(kMostWork / std::max(work, 1.0)), 1, kMostPasses);
  std::vector<std::int64_t> order(train.size());
  std::vector<float> best_weights;
  std::pair<double, double> best;
  std::string how;
  for (const float rate : kRates) {
    regression->begin();
    std::mt19937_64 random(1);
    std::iota(order.begin(), order.end(), 0);
    for (int pass = 1; pass <= passes; ++pass) {
      permute(order, random);
      for (const auto i : order)
        regression->step(train.row(static_cast<std::size_t>(i)), train.targets[static_cast<std::size_t>(i)], rate);
      const auto found = badness(*regression, dev, data.judged_by_share());
      if (best_weights.empty() || found < best) {
        best = found, best_weights = regression->weights();
        how = fmt::format("rate {:.2g}, {} of {} passes", rate, pass, passes);
      }
    }
  }
  regression->end();
  if (!best_weights.empty()) regression->weights() = std::move(best_weights);
  return {std::move(regression), how, trained};
}

}  // namespace ablate
