#include "core/trial/audit/bayes.h"

#include <algorithm>
#include <cmath>

namespace ablate {
namespace {

constexpr std::size_t kBuckets = 1 << 16;

}  // namespace

template <class Take>
void Bayes::each_event(const Example& example, const Take& take) const {
  for (std::size_t part = 0; part < symbols_.parts(); ++part) {
    std::uint64_t before = ~std::uint64_t{part};
    const auto length = example.present.front().size();
    for (std::size_t at = 0; at < length; ++at) {
      if (!symbols_.present(example, part, at)) continue;
      const auto symbol = mixed(part, symbols_(example, part, at));
      if (over_ == Over::kPositions) {
        take(mixed(symbol, at) % kBuckets);
        continue;
      }
      take(symbol % kBuckets);
      take(mixed(before, symbol) % kBuckets);
      before = symbol;
    }
  }
}

Bayes::Bayes(Over over, const Symbols& symbols, std::int64_t classes, std::span<const Example* const> examples)
    : over_(over),
      symbols_(symbols),
      classes_(static_cast<std::size_t>(classes)),
      logarithms_(kBuckets * classes_),
      priors_(classes_, 1) {
  std::vector<double> totals(classes_);
  double all = 0;
  for (const auto* example : examples) {
    if (example->targets.front() < 0) continue;
    const auto label = static_cast<std::size_t>(example->targets.front());
    ++priors_[label];
    each_event(*example, [&](std::size_t bucket) {
      ++logarithms_[bucket * classes_ + label];
      ++totals[label], ++all;
    });
  }
  // To each class as many more as there are buckets that occur, dealt to those as all classes together have them: one more of
  // every bucket would tell of a class with few examples that it has none of anything.
  std::vector<double> counts(kBuckets);
  double occurring = 0;
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    for (std::size_t label = 0; label < classes_; ++label) counts[bucket] += logarithms_[bucket * classes_ + label];
    occurring += counts[bucket] > 0 ? 1 : 0;
  }
  for (std::size_t i = 0; i < logarithms_.size(); ++i)
    if (const auto count = counts[i / classes_]; count > 0)
      logarithms_[i] =
          static_cast<float>(std::log((logarithms_[i] + occurring * count / all) / (totals[i % classes_] + occurring)));
  for (auto& prior : priors_) prior = std::log(prior);
}

std::int64_t Bayes::operator()(const Example& example, std::size_t) const {
  auto scores = priors_;
  each_event(example, [&](std::size_t bucket) {
    for (std::size_t label = 0; label < classes_; ++label) scores[label] += logarithms_[bucket * classes_ + label];
  });
  return std::max_element(scores.begin(), scores.end()) - scores.begin();
}

}  // namespace ablate
