// Softmax regression on counts of symbols, and of runs of symbols.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/shared/objectives.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/softmax_regression.h"

namespace ablate {
namespace {

constexpr std::int64_t kSmall = 512;

/// Returns the number of hash buckets for symbols, by the number of classes.
std::size_t hashed_features(std::int64_t classes) { return std::size_t{1} << (classes <= 64 ? 18 : 14); }

/// Scales features to length 1 (Euclidean).
void normalise(std::vector<SparseFeature>& features) {
  // Features with equal index are added up, so that a count becomes one number.
  std::sort(features.begin(), features.end(), [](const auto& a, const auto& b) { return a.index < b.index; });
  std::size_t kept = 0;
  for (const auto& feature : features)
    if (kept > 0 && features[kept - 1].index == feature.index)
      features[kept - 1].value += feature.value;
    else
      features[kept++] = feature;
  features.resize(kept);
  float squares = 0;
  for (const auto& [index, value] : features) squares += value * value;
  if (squares <= 0) return;
  for (auto& feature : features) feature.value /= std::sqrt(squares);
}

/// Returns features of runs of 1 to `longest` symbols of each field, at any position, counted and scaled to length 1. For a
/// pair, also returns the runs that both sequences have.
Extract grams(const TaskInfo& info, std::size_t longest) {
  const auto buckets = hashed_features(info.classes);
  const auto fields = info.fields.size(), sequences = static_cast<std::size_t>(info.sequences);
  return [=](const Example& example, std::size_t, std::vector<SparseFeature>& features) {
    std::vector<std::vector<std::uint64_t>> seen(sequences);
    for (std::size_t part = 0; part < example.ids.size(); ++part) {
      const auto& ids = example.ids[part];
      const auto& present = example.present[part / fields];
      for (std::size_t at = 0; at < ids.size(); ++at) {
        auto hash = std::uint64_t{part % fields};
        for (std::size_t n = 0; n < longest && n <= at && present[at - n] != 0; ++n) {
          hash = mixed(hash, static_cast<std::uint64_t>(ids[at - n]));
          seen[part / fields].push_back(hash);
        }
      }
    }
    const auto put = [&](std::size_t tag, std::uint64_t hash) {
      features.push_back({static_cast<std::uint32_t>(mixed(tag, hash) % buckets), 1});
    };
    for (std::size_t sequence = 0; sequence < sequences; ++sequence)
      for (const auto hash : seen[sequence]) put(sequence, hash);
    if (sequences == 2) {
      for (auto& one : seen) std::sort(one.begin(), one.end()), one.erase(std::unique(one.begin(), one.end()), one.end());
      std::vector<std::uint64_t> both;
      std::set_intersection(seen[0].begin(), seen[0].end(), seen[1].begin(), seen[1].end(), std::back_inserter(both));
      for (const auto hash : both) put(2, hash);
    }
    normalise(features);
  };
}

/// True if the task asks for the class of a sequence of symbols. A picture does not count: values.cpp reads its ids as numbers.
bool has_bags(const TaskInfo& info) {
  return !asks_of(info.objective).each && info.classes <= kMostRegressed && info.fields.front().vocabulary > 0 &&
         info.geometry.rows == 0;
}

TrainedPredictor train_bag(const LearnedData& data) {
  return train_regression(data, hashed_features(data.info().classes), grams(data.info(), 1));
}

/// Counts runs of up to 4 symbols if the vocabulary is small (bytes), else runs of up to 2 symbols (words).
TrainedPredictor train_ngrams(const LearnedData& data) {
  const bool is_small = data.info().fields.front().vocabulary <= kSmall;
  return train_regression(data, hashed_features(data.info().classes), grams(data.info(), is_small ? 4 : 2));
}

}  // namespace

const PredictorKind predictors::bag = {"linear on a bag", has_bags, train_bag};
const PredictorKind predictors::ngrams = {"linear on n-grams", has_bags, train_ngrams};

}  // namespace ablate
