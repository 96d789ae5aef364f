// What an untrained model scores on a task, and what one answer to everything does.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/shared/objectives.h"
#include "core/trial/audit/looks.h"
#include "core/trial/audit/tables.h"

namespace ablate {
namespace {

// Of two symbols the commoner one is told by random weights in seven of ten: that is for a model to find.
constexpr Allowed kSolved{0.9, "of what is left to 1: random weights solve it"};
constexpr std::int64_t kSeeds = 32, kFewSeeds = 4;
constexpr std::size_t kMostAnswered = 500, kMostTokens = 1 << 18, kWidth = 16;

using Numbers = std::vector<float>;  // [rows, kWidth]

Numbers random_rows(std::int64_t rows, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> draw;
  Numbers numbers(static_cast<std::size_t>(rows) * kWidth);
  for (auto& number : numbers) number = draw(random);
  return numbers;
}

void add(float* to, const float* row, float factor) {
  for (std::size_t i = 0; i < kWidth; ++i) to[i] += factor * row[i];
}

/// Random embeddings of fields and positions, the mean of what is present (or, where targets stand at positions, the position
/// itself; where all are decoded from one vector, both), centred, and a random classifier: no attention, so that no plugin but
/// the task takes part.
class Untrained {
 public:
  Untrained(const TaskInfo& info, std::uint64_t seed) : info_(info) {
    for (std::size_t i = 0; i < info.fields.size(); ++i)
      tables_.push_back(random_rows(std::max(info.fields[i].vocabulary, info.fields[i].reals), seed + 100 * (i + 1)));
    positions_ = random_rows(info.length, seed + 10'000);
    classifier_ = random_rows(info.classes * (info.sequences == 2 ? 4 : 1), seed + 20'000);
  }

  std::int64_t operator()(const Example& example, std::size_t at) const {
    std::vector<float> features(kWidth);
    if (asks_of(info_.objective).in_place()) {
      embed(example, 0, at, features.data());
      return best(features);
    }
    features = mean(example, 0);
    if (asks_of(info_.objective).each) add(features.data(), &positions_[at * kWidth], 1);
    if (info_.sequences == 2) {
      const auto a = features, b = mean(example, 1);
      features.insert(features.end(), b.begin(), b.end());
      for (std::size_t i = 0; i < kWidth; ++i) features.push_back(a[i] * b[i]);
      for (std::size_t i = 0; i < kWidth; ++i) features.push_back(a[i] - b[i]);
    }
    return best(features);
  }

 private:
  void embed(const Example& example, std::size_t sequence, std::size_t at, float* to) const {
    add(to, &positions_[at * kWidth], 1);
    for (std::size_t field = 0; field < info_.fields.size(); ++field) {
      const auto part = sequence * info_.fields.size() + field;
      if (info_.fields[field].vocabulary > 0) {
        add(to, &tables_[field][static_cast<std::size_t>(example.ids[part][at]) * kWidth], 1);
        continue;
      }
      const auto reals = static_cast<std::size_t>(info_.fields[field].reals);
      for (std::size_t i = 0; i < reals; ++i) add(to, &tables_[field][i * kWidth], example.reals[part][at * reals + i]);
    }
  }

  std::vector<float> mean(const Example& example, std::size_t sequence) const {
    std::vector<float> sum(kWidth);
    float count = 0;
    for (std::size_t at = 0; at < example.present[sequence].size(); ++at)
      if (example.present[sequence][at] != 0) embed(example, sequence, at, sum.data()), ++count;
    for (auto& number : sum) number /= std::max(count, 1.0f);
    return sum;
  }

  std::int64_t best(std::vector<float> features) const {
    float sum = 0;
    for (const auto number : features) sum += number;
    for (auto& number : features) number -= sum / static_cast<float>(features.size());
    std::int64_t answer = 0;
    float most = -std::numeric_limits<float>::infinity();
    for (std::int64_t label = 0; label < info_.classes; ++label) {
      const auto* row = &classifier_[static_cast<std::size_t>(label) * features.size()];
      float score = 0;
      for (std::size_t i = 0; i < features.size(); ++i) score += row[i] * features[i];
      if (score > most) most = score, answer = label;
    }
    return answer;
  }

  const TaskInfo& info_;
  std::vector<Numbers> tables_;
  Numbers positions_, classifier_;
};

}  // namespace

/// The mean over models is 1 / classes whatever the labels, because no class is drawn before another: it is the best of them
/// that tells.
void chance_level(const SampledTask& subject, Splits on, Finding& finding) {
  const auto& info = subject.info;
  const auto length = static_cast<std::size_t>(info.length * info.sequences);
  const auto examples = some_of(subject.sample(on.front().split).examples, std::min(kMostAnswered, kMostTokens / length + 1));
  const double chance = 1.0 / static_cast<double>(info.classes), constant = constant_share(examples);
  double sum = 0, best = 0, targets = 0;
  for (const auto* example : examples)
    targets += static_cast<double>(
        std::count_if(example->targets.begin(), example->targets.end(), [](auto target) { return target >= 0; }));
  const auto seeds = info.classes > 256 ? kFewSeeds : kSeeds;
  for (std::int64_t seed = 1; seed <= seeds; ++seed) {
    const double found = score_of(Untrained(info, static_cast<std::uint64_t>(seed)), examples).accuracy();
    sum += found;
    best = std::max(best, found);
  }
  const double noise = kStandardErrors * std::sqrt(chance * (1 - chance) / targets);
  const auto text = fmt::format(
      "{} untrained models are right in {:.3f} of cases on average, {:.3f} at best, one answer in {:.3f}; chance is {:.3f}",
      seeds, sum / static_cast<double>(seeds), best, constant, chance);
  const auto above = [&](double found) { return std::max(0.0, (found - chance - noise) / (1 - chance)); };
  finding.off_by(above(constant), text);
  finding.off_by(above(best), text, kSolved);
  if (above(std::max(best, constant)) <= 0) finding.say(text);
}

}  // namespace ablate
