// One rule in all splits: simple learners made on half of train must do equally well on its other half, on dev and on test.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/trial/audit/features.h"
#include "core/trial/audit/looks.h"
#include "core/trial/conformance/task/symbols.h"
#include "core/trial/floors/predictor.h"

namespace ablate {
namespace {

constexpr std::size_t kMostLearned = 1000, kMostJudged = 2000;

/// Gain of a learner over one fixed answer, as a share of the targets that the fixed answer misses.
struct Gain {
  Hits score;
  double left, share;
  double error(double p) const { return score.standard_error(p) / left; }
};

Gain gain_of(const Answerer& learner, std::span<const Example* const> judged) {
  const auto score = score_of(learner, judged);
  const double constant = constant_share(judged), left = std::max(1 - constant, 1e-9);
  return {score, left, (score.accuracy() - constant) / left};
}

/// Returns the allowed difference of two splits, as a share of the gain. For drawn data, less is allowed if little is left to
/// learn, because no split of drawn data is harder than another one.
Allowed allowed_of(const SampledTask& subject, double better) {
  constexpr double usual = 0.3, least = 0.05;
  if (!subject.is_generated())
    return {usual,
            "share of the gain, beyond 4 standard errors: real splits differ a little, but under another rule the whole gain "
            "is lost"};
  return {std::clamp(2 * (1 - better) * usual, least, usual),
          "share of the gain, beyond 4 standard errors: 0.3, but smaller if less than half of the targets is left to learn"};
}

struct Learner {
  std::string name;
  Answerer answers;
};

/// Examples of train. Predictors learn from three of every four examples, and make choices on the fourth.
class PartOfTrain final : public LearnedData {
 public:
  PartOfTrain(const TaskInfo& info, std::span<const Example* const> examples)
      : LearnedData(info, true), numbers_(numbers_of(info)), examples_(examples) {}
  std::int64_t train(std::int64_t most, const Take& take) const override { return read(most, take, false); }
  std::int64_t dev(std::int64_t most, const Take& take) const override { return read(most, take, true); }

 private:
  std::int64_t read(std::int64_t most, const Take& take, bool every_fourth) const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < examples_.size() && count < std::max<std::int64_t>(1, most / numbers_); ++i)
      if ((i % 4 == 3) == every_fourth) take(*examples_[i]), ++count;
    return count;
  }

  std::int64_t numbers_;  ///< numbers in an example
  std::span<const Example* const> examples_;
};

std::vector<Learner> learners(const SampledTask& subject, std::span<const Example* const> train) {
  const auto& info = subject.info;
  std::vector<Learner> all;
  const auto [made, scored] = halves(train);
  for (const auto& features : {rule_features(info), position_features(info, subject.sample(Split::kTrain).examples)})
    if (!features.empty()) {
      const auto& best = best_feature(features, made, scored);
      all.push_back({"a table of " + best.name, LabelTable(best, train)});
    }
  const PartOfTrain data(info, train);
  for (const auto* kind : kPredictors)
    if (kind->concerns(info)) {
      const std::shared_ptr<const Predictor> predictor = kind->train(data).predictor;
      all.push_back({kind->name, [predictor](const Example& example, std::size_t at) {
                       return predictor->answer(example, at, 0).predicted;
                     }});
    }
  return all;
}

/// Returns the examples of a split that a learner of train can answer: examples no longer than the longest example of train.
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
      return fmt::format("only {} examples of {} are no longer than the longest example of train", left, name);
  return "";
}

/// @param on two splits. In train, only examples that no learner has used are judged.
void one_rule(const SampledTask& subject, Splits on, Finding& finding) {
  const auto& examples = subject.sample(Split::kTrain).examples;
  const auto all = some_of(examples, 2 * kMostLearned);
  const std::span train(all.data(), all.size() / 2), kept(all.data() + all.size() / 2, all.size() - all.size() / 2);
  const auto judge = [&](const Learner& learner, Split split) {
    return split == Split::kTrain ? gain_of(learner.answers, kept) : gain_of(learner.answers, judged_in(subject, split));
  };
  double most = 0;
  for (const auto& learner : learners(subject, train)) {
    const auto a = judge(learner, on.front().split), b = judge(learner, on.back().split);
    const double better = std::max(a.share, b.share), apart = std::abs(a.share - b.share);
    most = std::max(most, better);
    const double p_a = 1 - a.left, p_b = 1 - b.left;                                       // hit rates of fixed answers
    if (better <= kStandardErrors / 2 * std::hypot(a.error(p_a), b.error(p_b))) continue;  // the learner has learned nothing
    // Under one rule, both splits have the same hit rate. The rate is capped below 1, so that the standard error stays above 0.
    const double met = (a.score.accuracy() + b.score.accuracy()) / 2, p = std::min(met, 1 - 1 / (a.score.asked() + 2));
    finding.off_by(std::max(0.0, apart - kStandardErrors * std::hypot(a.error(p), b.error(p))) / better,
                   fmt::format("{} made on train is right in {:.3f} of {} and {:.3f} of {}", learner.name, a.score.accuracy(),
                               on.front().name, b.score.accuracy(), on.back().name),
                   allowed_of(subject, better));
  }
  const auto text = fmt::format("the best simple learner predicts {:.2f} of the targets that one fixed answer misses", most);
  if (!finding.looked()) return finding.leave(text + ": too little to distinguish two rules");
  finding.say(text);
}

}  // namespace ablate
