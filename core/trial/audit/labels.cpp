// Findings about labels without a model: one position or the length predicts the label, or one fixed answer is often right.
#include <fmt/format.h>

#include <cmath>

#include "core/trial/audit/features.h"
#include "core/trial/audit/looks.h"

namespace ablate {
namespace {

constexpr std::size_t kMostScreened = 1000, kMostAnswered = 500;

constexpr Allowed kLabel{0.35,
                         "share of the targets that one fixed answer misses, beyond 4 standard errors: even in sound tasks, an "
                         "operator or a pixel predicts a part of the labels (ListOps: 0.25)"},
    // The previous byte or pixel partly predicts the next one, strongly if nearly all bytes or pixels are equal.
    kNext{0.9,
          "share of the targets that one fixed answer misses: the previous symbol predicts many of these targets, for "
          "black and white pixels half of them"},
    kLength{0.25,
            "share of the targets that one fixed answer misses, beyond 4 standard errors: long examples may share a label"};

const Allowed& allowed_at_a_position(const SampledTask& subject) { return subject.info.unit.empty() ? kLabel : kNext; }

std::vector<const Example*> all_of(const std::vector<Example>& examples) { return some_of(examples, examples.size()); }

/// Checks how much the best feature's table gains over one fixed answer on the split. The gain is a share of the targets that
/// the fixed answer misses. The feature and its table come from train.
void readable(const SampledTask& subject, const NamedSplit& on, const std::vector<Feature>& features, const Allowed& allowed,
              Finding& finding) {
  const auto& train = subject.sample(Split::kTrain).examples;
  const auto judged = all_of(subject.sample(on.split).examples);
  const auto screened = some_of(train, kMostScreened);
  const auto [made, scored] = halves(screened);
  const LabelTable table(best_feature(features, made, scored), all_of(train));
  const auto score = score_of(std::cref(table), judged);
  const double constant = constant_share(judged), left = 1 - constant;
  if (left <= 0) return;  // the check "more than one answer" reports this case
  const double noise = kStandardErrors * score.standard_error(constant + allowed.error * left);
  finding.off_by(std::max(0.0, (score.accuracy() - noise - constant) / left),
                 fmt::format("{} predicts {:.3f} of the targets of {}; one fixed answer predicts {:.3f}", table.feature().name,
                             score.accuracy(), on.name, constant),
                 allowed);
  if (finding.error() <= 0)
    finding.say(
        fmt::format("{} predicts {:.3f}; one fixed answer predicts {:.3f}", table.feature().name, score.accuracy(), constant));
}

/// Returns why a split is too small to detect a gain of `more` over one fixed answer, or "" if it is large enough.
std::string too_few(const SampledTask& subject, Splits on, double more) {
  for (const auto& [split, name] : on) {
    const auto judged = all_of(subject.sample(split).examples);
    const double constant = constant_share(judged), p = constant + more * (1 - constant);
    const double noise =
        kStandardErrors * std::sqrt(p * (1 - p) / static_cast<double>(std::max<std::size_t>(judged.size(), 1)));
    if (p + noise >= 1) return fmt::format("{} examples of {} are too few to judge", judged.size(), name);
  }
  return "";
}

}  // namespace

std::string too_few_for_positions(const SampledTask& subject, Splits on) {
  return too_few(subject, on, allowed_at_a_position(subject).error);
}
std::string too_few_for_lengths(const SampledTask& subject, Splits on) { return too_few(subject, on, kLength.error); }

void label_at_a_position(const SampledTask& subject, Splits on, Finding& finding) {
  readable(subject, on.front(), position_features(subject.info, subject.sample(Split::kTrain).examples),
           allowed_at_a_position(subject), finding);
}

void chance_level(const SampledTask& subject, Splits on, Finding& finding) {
  const auto examples = some_of(subject.sample(on.front().split).examples, kMostAnswered);
  const double chance = 1.0 / static_cast<double>(subject.info.classes), constant = constant_share(examples);
  double targets = 0;
  for (const auto* example : examples) each_target_of(*example, [&](std::size_t, std::int64_t) { ++targets; });
  const double noise = kStandardErrors * std::sqrt(chance * (1 - chance) / targets);
  const auto text = fmt::format("one answer is right in {:.3f} of cases; chance is {:.3f}", constant, chance);
  finding.off_by(std::max(0.0, (constant - chance - noise) / (1 - chance)), text);
  if (finding.error() <= 0) finding.say(text);
}

void label_by_length(const SampledTask& subject, Splits on, Finding& finding) {
  auto features = length_features(subject.info);
  for (auto& marks : mark_features(subject.info, subject.sample(Split::kTrain).examples)) features.push_back(std::move(marks));
  readable(subject, on.front(), features, kLength, finding);
}

}  // namespace ablate
