#include "core/trial/floors/tables.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>

#include "core/trial/conformance/task/symbols.h"

namespace ablate {
namespace {

constexpr std::size_t kMostTargets = 1 << 17;

struct Pair {
  double key;
  std::int64_t label;
  bool operator<(const Pair& other) const { return key != other.key ? key < other.key : label < other.label; }
};

}  // namespace

void Hits::add(double met, double asked) {
  if (asked == 0) return;
  all_.emplace_back(met, asked);
  met_ += met;
  asked_ += asked;
}

double Hits::standard_error(double p) const {
  if (asked_ == 0) return 1;
  double squares = 0;
  for (const auto& [met, asked] : all_) squares += (met - accuracy() * asked) * (met - accuracy() * asked);
  return std::max(std::sqrt(squares) / asked_, std::sqrt(p * (1 - p) / asked_));
}

Hits score_of(const Answerer& answers, std::span<const Example* const> examples) {
  Hits score;
  for (const auto* example : examples) {
    double met = 0, asked = 0;
    each_target_of(*example,
                   [&](std::size_t at, std::int64_t label) { ++asked, met += answers(*example, at) == label ? 1 : 0; });
    score.add(met, asked);
  }
  return score;
}

std::int64_t commonest(std::span<const Example* const> examples) {
  std::unordered_map<std::int64_t, std::int64_t> counts;
  for (const auto* example : examples) each_target_of(*example, [&](std::size_t, std::int64_t label) { ++counts[label]; });
  std::int64_t best = -1, most = 0;
  for (const auto& [label, count] : counts)
    if (count > most || (count == most && label < best)) best = label, most = count;
  return best;
}

double constant_share(std::span<const Example* const> examples) {
  const auto best = commonest(examples);
  return score_of([&](const Example&, std::size_t) { return best; }, examples).accuracy();
}

LabelTable::LabelTable(const Feature& feature, std::span<const Example* const> examples)
    : feature_(feature), rest_(commonest(examples)) {
  std::vector<Pair> pairs;
  for (const auto* example : examples)
    each_target_of(*example, [&](std::size_t at, std::int64_t label) {
      pairs.push_back({feature_.value(*example, at), label});
    });
  if (feature_.measured) {
    std::vector<double> values;
    for (const auto& pair : pairs) values.push_back(pair.key);
    edges_ = quantiles(std::move(values), kRanges);
    for (auto& pair : pairs) pair.key = key_of(pair.key);
  }
  std::sort(pairs.begin(), pairs.end());
  for (std::size_t i = 0; i < pairs.size();) {
    const auto key = pairs[i].key;
    std::size_t most = 0;
    while (i < pairs.size() && pairs[i].key == key) {
      const auto begin = i;
      while (i < pairs.size() && pairs[i].key == key && pairs[i].label == pairs[begin].label) ++i;
      if (i - begin > most) most = i - begin, labels_[key] = pairs[begin].label;
    }
  }
}

double LabelTable::key_of(double value) const {
  if (!feature_.measured) return value;
  return static_cast<double>(std::upper_bound(edges_.begin(), edges_.end(), value) - edges_.begin());
}

std::int64_t LabelTable::operator()(const Example& example, std::size_t at) const {
  const auto found = labels_.find(key_of(feature_.value(example, at)));
  return found == labels_.end() ? rest_ : found->second;
}

const Feature& best_feature(std::span<const Feature> features, std::span<const Example* const> made,
                            std::span<const Example* const> scored) {
  const auto* best = &features.front();
  double most = -1;
  for (const auto& feature : features) {
    const LabelTable table(feature, made);
    const auto found = score_of(std::cref(table), scored).accuracy();
    if (found > most) most = found, best = &feature;
  }
  return *best;
}

std::pair<std::vector<const Example*>, std::vector<const Example*>> halves(std::span<const Example* const> examples) {
  std::pair<std::vector<const Example*>, std::vector<const Example*>> both;
  for (std::size_t i = 0; i < examples.size(); ++i) (i % 4 < 2 ? both.first : both.second).push_back(examples[i]);
  return both;
}

std::vector<const Example*> pointers_to(const std::vector<Example>& examples) {
  std::vector<const Example*> all;
  for (const auto& example : examples) all.push_back(&example);
  return all;
}

std::vector<const Example*> some_of(const std::vector<Example>& examples, std::size_t most) {
  std::size_t targets = 0;
  for (const auto& example : examples) targets += example.targets.size();
  const auto mean = std::max<std::size_t>(targets / std::max<std::size_t>(examples.size(), 1), 1);
  const auto count = std::min({examples.size(), most, std::max<std::size_t>(kMostTargets / mean, 2)});
  const auto all = pointers_to(examples);
  std::vector<const Example*> some;
  std::mt19937_64 random(1);  // random: if labels alternate, every second example has the same class
  std::sample(all.begin(), all.end(), std::back_inserter(some), static_cast<std::ptrdiff_t>(count), random);
  return some;
}

}  // namespace ablate
