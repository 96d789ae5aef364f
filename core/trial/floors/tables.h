// The simplest learners: tables from each value of a feature to its commonest label. Other examples score a table.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trial/conformance/task/examples.h"

namespace ablate {

/// Number of ranges for a size, with equally many examples each.
inline constexpr std::size_t kRanges = 16;
/// Value of a feature that finds nothing in an example.
inline constexpr double kNothing = -1e30;

/// Number that a table looks up, for an example and its target `at`.
struct Feature {
  std::string name;  ///< "the id of digit at 3"
  std::function<double(const Example& example, std::size_t at)> value;
  bool measured = false;  ///< true: the value is a size, and tables split sizes into kRanges ranges; false: a name
};

/// Count of the right answers among the targets.
class Hits {
 public:
  void add(double met, double asked);
  double accuracy() const { return asked_ > 0 ? met_ / asked_ : 0; }
  double asked() const { return asked_; }
  /// Returns the standard error of the accuracy, from its variation between examples: targets of one example may depend on each
  /// other. It is at least the error of the same number of independent answers, each right with probability p.
  double standard_error(double p) const;

 private:
  std::vector<std::pair<double, double>> all_;
  double met_ = 0, asked_ = 0;
};

/// Calls take(at, target) for each target of an example.
template <class TakeTarget>
void each_target_of(const Example& example, const TakeTarget& take) {
  for (std::size_t at = 0; at < example.targets.size(); ++at)
    if (example.targets[at] >= 0) take(at, example.targets[at]);
}

/// Function that answers one target with a label.
using Answerer = std::function<std::int64_t(const Example& example, std::size_t at)>;
Hits score_of(const Answerer& answers, std::span<const Example* const> examples);

/// Returns the commonest target, or -1 if there is none.
std::int64_t commonest(std::span<const Example* const> examples);
/// Returns the share of the commonest target: the accuracy of one fixed answer.
double constant_share(std::span<const Example* const> examples);

class LabelTable {
 public:
  LabelTable(const Feature& feature, std::span<const Example* const> examples);
  /// Returns the table's label, or the commonest label for a missing key.
  std::int64_t operator()(const Example& example, std::size_t at) const;
  const Feature& feature() const { return feature_; }

 private:
  double key_of(double value) const;

  Feature feature_;
  std::vector<double> edges_;
  std::unordered_map<double, std::int64_t> labels_;
  std::int64_t rest_;
};

/// Returns the first feature whose table, made from the examples `made`, is right most often on the examples `scored`.
/// @param features at least one
const Feature& best_feature(std::span<const Feature> features, std::span<const Example* const> made,
                            std::span<const Example* const> scored);

/// Splits examples into two halves: the first two of every four examples, and the other two.
std::pair<std::vector<const Example*>, std::vector<const Example*>> halves(std::span<const Example* const> examples);

std::vector<const Example*> pointers_to(const std::vector<Example>& examples);
/// Draws up to `most` examples, with about 2^17 targets at most. Draws two examples even if they have more targets.
std::vector<const Example*> some_of(const std::vector<Example>& examples, std::size_t most);

}  // namespace ablate
