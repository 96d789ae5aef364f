// Predicts each number of a sequence by least squares from earlier numbers; in a picture also from the numbers above it. The
// frequencies of the prediction errors give probabilities, as in lossless coding of pictures.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/shared/objectives.h"
#include "core/trial/floors/predictor.h"

namespace ablate {
namespace {

constexpr std::int64_t kMostPredicted = 1 << 23;
constexpr std::int64_t kMostNumbers = 1024;

/// Solves a x = b by elimination. Adds a little to the diagonal, so that constant numbers do no harm.
std::vector<double> solved(std::vector<std::vector<double>> a, std::vector<double> b) {
  const auto n = b.size();
  for (std::size_t i = 0; i < n; ++i) a[i][i] += 1e-6 * (1 + a[i][i]);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t row = i + 1; row < n; ++row) {
      const double factor = a[row][i] / a[i][i];
      for (std::size_t column = i; column < n; ++column) a[row][column] -= factor * a[i][column];
      b[row] -= factor * b[i];
    }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t column = i + 1; column < n; ++column) b[i] -= a[i][column] * b[column];
    b[i] /= a[i][i];
  }
  return b;
}

class LinearPrediction final : public Predictor {
 public:
  explicit LinearPrediction(const TaskInfo& info)
      : classes_(info.classes), phases_(static_cast<std::size_t>(std::max<std::int64_t>(1, info.geometry.channels))) {
    const auto channels = info.geometry.channels, row = info.geometry.columns * channels;
    std::vector<std::int64_t> before = {1, 2, 3, channels, 2 * channels};
    if (info.geometry.rows > 0) before.insert(before.end(), {row, row - channels, row + channels});
    for (const auto lag : before)
      if (lag > 0 && std::find(lags_.begin(), lags_.end(), lag - 1) == lags_.end()) lags_.push_back(lag - 1);
    const auto n = lags_.size() + 1;
    products_.assign(phases_, std::vector(n, std::vector<double>(n)));
    answers_.assign(phases_, std::vector<double>(n));
    errors_.assign(static_cast<std::size_t>(2 * classes_ - 1), 0.0);
  }

  void add(const Example& example, std::size_t at, std::int64_t target) {
    const auto numbers = before(example, at);
    auto& products = products_[at % phases_];
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      for (std::size_t j = 0; j < numbers.size(); ++j) products[i][j] += numbers[i] * numbers[j];
      answers_[at % phases_][i] += numbers[i] * static_cast<double>(target);
    }
  }
  void solve() {
    for (std::size_t phase = 0; phase < phases_; ++phase) weights_.push_back(solved(products_[phase], answers_[phase]));
  }
  void add_error(const Example& example, std::size_t at, std::int64_t target) {
    ++errors_[static_cast<std::size_t>(target - predicted(example, at) + classes_ - 1)];
  }
  /// Gives all errors together one more count, so that an error that never occurred is possible.
  void finish() {
    double all = 0;
    for (const auto count : errors_) all += count;
    for (auto& count : errors_) count += all > 0 ? 1.0 / static_cast<double>(errors_.size()) : 1;
    sums_.assign(1, 0);
    for (const auto count : errors_) sums_.push_back(sums_.back() + count);
  }

  FloorAnswer answer(const Example& example, std::size_t at, std::int64_t target) const override {
    const auto number = predicted(example, at);
    // Counts only errors that lead to a valid number.
    const auto first = static_cast<std::size_t>(classes_ - 1 - number), last = first + static_cast<std::size_t>(classes_);
    const auto here = errors_[static_cast<std::size_t>(target - number + classes_ - 1)];
    return {number, std::log(sums_[last] - sums_[first]) - std::log(here)};
  }

 private:
  std::vector<double> before(const Example& example, std::size_t at) const {
    std::vector<double> numbers = {1};
    for (const auto lag : lags_)
      numbers.push_back(
          static_cast<double>(example.ids[0][at >= static_cast<std::size_t>(lag) ? at - static_cast<std::size_t>(lag) : at]));
    return numbers;
  }
  std::int64_t predicted(const Example& example, std::size_t at) const {
    const auto numbers = before(example, at);
    double sum = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) sum += weights_[at % phases_][i] * numbers[i];
    return std::clamp<std::int64_t>(std::llround(sum), 0, classes_ - 1);
  }

  std::int64_t classes_;
  std::size_t phases_;              ///< channels, each with its own weights
  std::vector<std::int64_t> lags_;  ///< distances back from a target's position, which has the number before the target
  std::vector<std::vector<std::vector<double>>> products_;
  std::vector<std::vector<double>> answers_, weights_;
  std::vector<double> errors_, sums_;
};

bool concerns_numbers(const TaskInfo& info) {
  return asks_of(info.objective).in_place() && info.unit == "dimension" && info.fields.size() == 1 &&
         info.fields[0].vocabulary > 0 && info.classes <= kMostNumbers;
}

TrainedPredictor train_linear_prediction(const LearnedData& data) {
  auto made = std::make_unique<LinearPrediction>(data.info());
  const auto each = [&](void (LinearPrediction::*take)(const Example&, std::size_t, std::int64_t)) {
    return data.train(kMostPredicted, [&](const Example& example) {
      each_target_of(example, [&](std::size_t at, std::int64_t target) { (*made.*take)(example, at, target); });
    });
  };
  each(&LinearPrediction::add);
  made->solve();
  const auto trained = each(&LinearPrediction::add_error);
  made->finish();
  return {std::move(made), "", trained};
}

}  // namespace

const PredictorKind predictors::linear_prediction = {"linear prediction", concerns_numbers, train_linear_prediction};

}  // namespace ablate
