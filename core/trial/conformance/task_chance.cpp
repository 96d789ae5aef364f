// What an untrained model scores on a task, and what one answer to everything does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/trial/conformance/numbers.h"
#include "core/trial/conformance/task_checks.h"
#include "core/trial/conformance/task_examples.h"

namespace ablate {

namespace {

constexpr std::uint64_t kSeeds = 32;
constexpr std::int64_t kMostExamples = 500, kMostTokens = 1 << 18, kWidth = 16;
constexpr double kMostKnown = 0.25, kStandardErrors = 4;

/// Random embeddings of fields and positions, the mean of what is present (or, where targets stand at positions, the position
/// itself), normalised, and a random classifier: no attention, so that no plugin but the task takes part.
class Untrained {
 public:
  Untrained(const TaskInfo& info, std::uint64_t seed) : info_(info) {
    for (std::size_t i = 0; i < info.fields.size(); ++i) {
      const auto& field = info.fields[i];
      tables_.push_back(normal({std::max(field.vocabulary, field.reals), kWidth}, seed + 100 * (i + 1), kFloat));
    }
    positions_ = normal({info.length, kWidth}, seed + 10'000, kFloat);
    classifier_ = normal({info.sequences == 2 ? 4 * kWidth : kWidth, info.classes}, seed + 20'000, kFloat);
  }

  /// The class with the highest score for each target that the example asks for.
  std::vector<std::int64_t> answers(const Example& example) const {
    std::vector<Tensor> rows;
    for (std::int64_t sequence = 0; sequence < info_.sequences; ++sequence) rows.push_back(embedded(example, sequence));
    auto features = rows.front();
    if (info_.objective == Objective::kClass) {
      std::vector<Tensor> means;
      for (std::size_t sequence = 0; sequence < rows.size(); ++sequence) {
        const std::vector<std::int64_t> flags(example.present[sequence].begin(), example.present[sequence].end());
        const auto present = integers(flags).to(kFloat).unsqueeze(1);
        means.push_back((rows[sequence] * present).sum(0) / present.sum().clamp_min(1));
      }
      features = means.front();
      if (means.size() == 2) features = ablate::cat({means[0], means[1], means[0] * means[1], means[0] - means[1]});
      features = features.unsqueeze(0);
    }
    features = features - features.mean(-1, true);
    const auto best = features.matmul(classifier_).argmax(-1);
    return {best.data_ptr<std::int64_t>(), best.data_ptr<std::int64_t>() + best.numel()};
  }

 private:
  Tensor embedded(const Example& example, std::int64_t sequence) const {
    auto sum = positions_;
    for (std::size_t field = 0; field < info_.fields.size(); ++field) {
      const auto at = static_cast<std::size_t>(sequence) * info_.fields.size() + field;
      if (info_.fields[field].vocabulary > 0) {
        sum = sum + tables_[field].index_select(0, integers(example.ids[at]));
      } else {
        auto reals = empty({info_.length, info_.fields[field].reals});
        std::copy(example.reals[at].begin(), example.reals[at].end(), reals.mutable_data_ptr<float>());
        sum = sum + reals.matmul(tables_[field]);
      }
    }
    return sum;
  }

  const TaskInfo& info_;
  std::vector<Tensor> tables_;
  Tensor positions_, classifier_;
};

/// The share of targets that a model meets.
double accuracy(const Untrained& model, const std::vector<Example>& examples) {
  double met = 0, asked = 0;
  for (const auto& example : examples) {
    const auto answers = model.answers(example);
    for (std::size_t i = 0; i < answers.size(); ++i) {
      asked += example.targets[i] >= 0 ? 1 : 0;
      met += example.targets[i] == answers[i] ? 1 : 0;
    }
  }
  return met / asked;
}

}  // namespace

void check_chance(const Task& task, const TaskInfo& info, Checks& checks) {
  for (const auto& [split, name] : {kSplits[1], kSplits[2]}) {
    const auto indices =
        indices_of(info, task.size(split), std::min(kMostExamples, kMostTokens / std::max<std::int64_t>(info.length, 1) + 1));
    checks.run("chance", fmt::format("{}, {} examples, {} untrained models", name, indices.size(), kSeeds), kMostKnown,
               [&, split = split](std::string& where) {
                 const auto examples = read_examples(task, info, split, indices);
                 std::map<std::int64_t, double> asked;
                 double targets = 0;
                 for (const auto& example : examples)
                   for (const auto target : example.targets)
                     if (target >= 0) ++asked[target], ++targets;
                 double constant = 0, sum = 0, best = 0;
                 for (const auto& [target, count] : asked) constant = std::max(constant, count / targets);
                 for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
                   const double found = accuracy(Untrained(info, seed), examples);
                   sum += found;
                   best = std::max(best, found);
                 }
                 // The mean over models is 1 / classes whatever the labels, because no class is drawn before another. It is
                 // the best of them that tells.
                 const double chance = 1.0 / static_cast<double>(info.classes);
                 const double noise = kStandardErrors * std::sqrt(chance * (1 - chance) / targets);
                 where = fmt::format("accuracy {:.3f} on average, {:.3f} at best, {:.3f} for one answer, chance is {:.3f}",
                                     sum / kSeeds, best, constant, chance);
                 return std::max(0.0, (std::max(best, constant) - chance - noise) / (1 - chance));
               });
  }
}

}  // namespace ablate
