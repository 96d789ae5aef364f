// The simplest learners: tables from a feature of an example to its commonest label. Each is scored on examples that it was not
// made from.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trial/conformance/task/examples.h"

namespace ablate {

/// Ranges that a number is cut into, with equally many examples each.
inline constexpr std::size_t kRanges = 16;
/// Where a feature finds nothing to look at.
inline constexpr double kNothing = -1e30;

/// A number that a table looks up: of an example, and of the target at `at` among its targets.
struct Feature {
  std::string name;  ///< "the id of digit at 3"
  std::function<double(const Example& example, std::size_t at)> value;
  bool measured = false;  ///< a size, and no name: tables hold 16 ranges of it, with equally many examples
};

/// How many targets were met, of those asked for.
class Hits {
 public:
  void add(double met, double asked);
  double accuracy() const { return asked_ > 0 ? met_ / asked_ : 0; }
  double asked() const { return asked_; }
  /// Of the accuracy, from how it varies between examples: targets of one example may depend on each other. At least that of as
  /// many independent answers, each right with probability p.
  double standard_error(double p) const;

 private:
  std::vector<std::pair<double, double>> all_;
  double met_ = 0, asked_ = 0;
};

/// Calls take(at, target) for each target that is asked.
template <class TakeTarget>
void each_target_of(const Example& example, const TakeTarget& take) {
  for (std::size_t at = 0; at < example.targets.size(); ++at)
    if (example.targets[at] >= 0) take(at, example.targets[at]);
}

/// The label that is answered to one target.
using Answerer = std::function<std::int64_t(const Example& example, std::size_t at)>;
Hits score_of(const Answerer& answers, std::span<const Example* const> examples);

/// The label that is asked for most often, or -1.
std::int64_t commonest(std::span<const Example* const> examples);
/// The share of the commonest target among these: what one answer to everything meets.
double constant_share(std::span<const Example* const> examples);

class LabelTable {
 public:
  LabelTable(const Feature& feature, std::span<const Example* const> examples);
  /// What is not in the table gets the commonest label.
  std::int64_t operator()(const Example& example, std::size_t at) const;
  const Feature& feature() const { return feature_; }

 private:
  double key_of(double value) const;

  Feature feature_;
  std::vector<double> edges_;
  std::unordered_map<double, std::int64_t> labels_;
  std::int64_t rest_;
};

/// Returns the first feature whose table is right most often. @param features at least one @param made examples that tables are
/// made from
/// @param told examples that tables are scored on
const Feature& best_feature(std::span<const Feature> features, std::span<const Example* const> made,
                            std::span<const Example* const> told);

/// Splits examples into two of every four, and the others.
std::pair<std::vector<const Example*>, std::vector<const Example*>> halves(std::span<const Example* const> examples);

std::vector<const Example*> pointers_to(const std::vector<Example>& examples);
/// At most `most` of them, spread over all; their targets together are at most 2^17.
std::vector<const Example*> some_of(const std::vector<Example>& examples, std::size_t most);

}  // namespace ablate
