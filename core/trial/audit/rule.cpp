// One rule in all splits: what simple learners learn on train, they can do on dev and on test alike.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/shared/objectives.h"
#include "core/trial/audit/features.h"
#include "core/trial/audit/looks.h"
#include "core/trial/conformance/task/symbols.h"

namespace ablate {
namespace {

/// Naive Bayes: from the symbols of an example to its label.
class Bayes {
 public:
  /// What it counts: symbols and pairs of neighbours wherever they stand, or the symbol at each position.
  enum class Over { kCounts, kPositions };

  /// Learns from examples that have one class each. @param examples, symbols outlive it
  Bayes(Over over, const Symbols& symbols, std::int64_t classes, std::span<const Example* const> examples);
  std::int64_t operator()(const Example& example, std::size_t at) const;

 private:
  template <class Take>
  void each_event(const Example& example, const Take& take) const;

  Over over_;
  const Symbols& symbols_;
  std::size_t classes_;
  std::vector<float> logarithms_;  ///< [buckets, classes]; 0 of what never occurred
  std::vector<double> priors_;
};

constexpr std::size_t kBuckets = 1 << 16;

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

constexpr std::size_t kMostLearned = 1000, kMostJudged = 2000;
constexpr std::int64_t kMostClasses = 64;  // of a learner that counts for each of them

/// How much a learner does of what one answer to everything leaves.
struct Gain {
  Hits score;
  double left, share;
  double error(double p) const { return score.standard_error(p) / left; }
};

Gain gain_of(const Answers& learner, std::span<const Example* const> judged) {
  const auto score = score_of(learner, judged);
  const double constant = constant_share(judged), left = std::max(1 - constant, 1e-9);
  return {score, left, (score.accuracy() - constant) / left};
}

/// What one split may have less than the other, of what is learned. Where next to nothing is left to learn, drawn data have
/// nothing that may be harder in one of them.
Allowed allowed_of(const SampledTask& subject, double better) {
  constexpr double usual = 0.3, least = 0.05;
  if (!subject.is_generated())
    return {usual, "of what is learned, beyond 4 standard errors: real splits differ a little, another rule loses all"};
  return {std::clamp(2 * (1 - better) * usual, least, usual),
          "of what is learned, beyond 4 standard errors: 0.3, and less where less than half is left to learn"};
}

struct Learner {
  std::string name;
  Answers answers;
};

std::vector<Learner> learners(const SampledTask& subject, const Symbols& symbols, std::span<const Example* const> train) {
  const auto& info = subject.info;
  std::vector<Learner> all;
  for (const auto& features : {rule_features(info), position_features(info, subject.sample(Split::kTrain).examples)})
    if (!features.empty()) {
      const auto& best = best_feature(features, train);
      all.push_back({"a table of " + best.name, LabelTable(best, train)});
    }
  if (!asks_of(info.objective).each && info.classes <= kMostClasses) {
    all.push_back({"naive Bayes of counts", Bayes(Bayes::Over::kCounts, symbols, info.classes, train)});
    all.push_back({"naive Bayes of positions", Bayes(Bayes::Over::kPositions, symbols, info.classes, train)});
  }
  return all;
}

/// The examples of a split that a learner of train can be asked: no longer than those.
std::vector<const Example*> judged_in(const SampledTask& subject, Split split) {
  auto all = some_of(subject.sample(split).examples, kMostJudged);
  const auto longest = static_cast<std::size_t>(subject.longest(Split::kTrain));
  std::erase_if(all, [&](const Example* example) {
    for (const auto& present : example->present)
      if (Symbols::end(present) > longest) return true;
    return false;
  });
  return all;
}

}  // namespace

std::string too_long(const SampledTask& subject, Splits on) {
  constexpr std::size_t kFewest = 50;
  if (subject.longest(Split::kTrain) == subject.info.length) return "";
  for (const auto& [split, name] : on)
    if (const auto left = judged_in(subject, split).size(); left < kFewest)
      return fmt::format("{} examples of {} are as long as those of train at most", left, name);
  return "";
}

/// @param on two splits; train is then the part that nothing was learned from
void one_rule(const SampledTask& subject, Splits on, Finding& finding) {
  const auto& examples = subject.sample(Split::kTrain).examples;
  const auto all = some_of(examples, 2 * kMostLearned);
  const std::span train(all.data(), all.size() / 2), kept(all.data() + all.size() / 2, all.size() - all.size() / 2);
  const Symbols symbols(subject.info, examples, 8);
  const auto judge = [&](const Learner& learner, Split split) {
    return split == Split::kTrain ? gain_of(learner.answers, kept) : gain_of(learner.answers, judged_in(subject, split));
  };
  double most = 0;
  for (const auto& learner : learners(subject, symbols, train)) {
    const auto a = judge(learner, on.front().split), b = judge(learner, on.back().split);
    const double better = std::max(a.share, b.share), apart = std::abs(a.share - b.share);
    most = std::max(most, better);
    const double p_a = 1 - a.left, p_b = 1 - b.left;                                       // of one answer
    if (better <= kStandardErrors / 2 * std::hypot(a.error(p_a), b.error(p_b))) continue;  // it has learned nothing
    // Of one rule both are met as often; one more of each keeps the error above 0.
    const double met = (a.score.accuracy() + b.score.accuracy()) / 2, p = std::min(met, 1 - 1 / (a.score.asked() + 2));
    finding.off_by(std::max(0.0, apart - kStandardErrors * std::hypot(a.error(p), b.error(p))) / better,
                   fmt::format("{} made on train meets {:.3f} of {} and {:.3f} of {}", learner.name, a.score.accuracy(),
                               on.front().name, b.score.accuracy(), on.back().name),
                   allowed_of(subject, better));
  }
  const auto text = fmt::format("the best simple learner does {:.2f} of what one answer leaves", most);
  if (!finding.looked()) return finding.leave(text + ": too little to tell one rule from another");
  finding.say(text);
}

}  // namespace ablate
