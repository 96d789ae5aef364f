// The simplest learners: a table from what one feature of an example is to the label that stands beside it most often, and how
// well it does where it was not made.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/trial/conformance/sampled_task.h"

namespace ablate {

/// What is looked at of an example: of one target, at `at` among its targets.
struct Feature {
  std::string name;  ///< "the id of digit at 3"
  std::function<double(const Example& example, std::size_t at)> value;
  bool measured = false;  ///< a size rather than a name: tables hold 16 ranges of it, with as many examples each
};

/// Targets met of those asked for.
class Hits {
 public:
  void add(double met, double asked);
  double accuracy() const { return asked_ > 0 ? met_ / asked_ : 0; }
  double asked() const { return asked_; }
  /// Of the accuracy: what it varies by from one example to another, since targets of one example may go together, and no less
  /// than that of as many independent answers, each of them right with probability p.
  double standard_error(double p) const;

 private:
  std::vector<std::pair<double, double>> all_;
  double met_ = 0, asked_ = 0;
};

/// The label that is answered to one target.
using Answers = std::function<std::int64_t(const Example& example, std::size_t at)>;
Hits score_of(const Answers& answers, std::span<const Example* const> examples);

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

/// The feature whose table does best on examples that it was not made from: made from every second one, it is told by the rest.
/// @param features at least one
const Feature& best_feature(std::span<const Feature> features, std::span<const Example* const> train);

/// At most `most` of them, from all over; whose targets together are at most 2^17.
std::vector<const Example*> some_of(const std::vector<Example>& examples, std::size_t most);

}  // namespace ablate
