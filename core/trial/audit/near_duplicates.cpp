// What of one split is nearly the same as something of another.
#include <fmt/format.h>

#include <algorithm>

#include "core/trial/audit/likeness.h"
#include "core/trial/audit/looks.h"
#include "core/trial/audit/tables.h"

namespace ablate {
namespace {

constexpr Allowed kFewAlike{0.01, "another data_seed makes other examples: they are drawn, and can be drawn again"},
    kRealAlike{0.1, "real data hold other versions of themselves"};
constexpr std::int64_t kMostSearched = 10'000, kMostPositions = 1 << 22;
constexpr std::size_t kMostCompared = 500;
constexpr std::int64_t kFewestNear = 5;  // that tell something of the rest

/// How many of the targets that two examples ask for are the same.
void compare_targets(const Example& a, const Example& b, Hits& score) {
  double met = 0, asked = 0;
  for (std::size_t at = 0; at < std::min(a.targets.size(), b.targets.size()); ++at) {
    if (a.targets[at] < 0 || b.targets[at] < 0) continue;
    ++asked;
    met += a.targets[at] == b.targets[at] ? 1 : 0;
  }
  score.add(met, asked);
}

Example read_one(const SampledTask& subject, Split split, std::int64_t index) {
  return read_examples(*subject.task, subject.info, split, {&index, 1}).front();
}

/// What of one split is nearly the same as something of those before.
struct Near {
  std::int64_t compared = 0, count = 0;
  Hits looked_up;  ///< the label of the one that is alike, as an answer
  std::string first;
};

Near near_to(const SampledTask& subject, const Likeness& likeness, const NamedSplit& on, Split before) {
  Near near;
  const auto& sample = subject.sample(on.split);
  for (const auto* judged : some_of(sample.examples, kMostCompared)) {
    const auto& example = *judged;
    ++near.compared;
    for (const auto index : likeness.candidates(example)) {
      const auto other = read_one(subject, before, index);
      if (hash_of(other) == hash_of(example) || !likeness.alike(example, other)) continue;
      if (near.count++ == 0)
        near.first = fmt::format("example {} is nearly example {}",
                                 sample.indices[static_cast<std::size_t>(judged - sample.examples.data())], index);
      compare_targets(example, other, near.looked_up);
      break;
    }
  }
  return near;
}

}  // namespace

/// @param on the split that is searched, and the one that may hold nearly nothing of it
void near_duplicates(const SampledTask& subject, Splits on, Finding& finding) {
  const auto before = on.front().split;
  Likeness likeness(subject.info, subject.sample(before).examples,
                    subject.is_generated() ? Likeness::kMuch : Likeness::kNearlyAll);
  const auto positions = std::max<std::int64_t>(subject.info.length * subject.info.sequences, 1);
  const auto most = std::clamp<std::int64_t>(kMostPositions / positions, 2, kMostSearched);
  const auto indices = drawn_indices(subject.info, subject.task->size(before), most);
  for (std::size_t begin = 0; begin < indices.size(); begin += 256) {
    const std::span part(indices.data() + begin, std::min<std::size_t>(256, indices.size() - begin));
    const auto examples = read_examples(*subject.task, subject.info, before, part);
    for (std::size_t i = 0; i < part.size(); ++i) likeness.add(examples[i], part[i]);
  }
  const auto& examples = subject.sample(on.back().split).examples;
  const auto near = near_to(subject, likeness, on.back(), before);
  if (near.count == 0) return;
  const auto judged = some_of(examples, examples.size());
  const double constant = constant_share(judged), noise = 2 * near.looked_up.standard_error(constant),
               found = near.looked_up.accuracy();
  // With two labels, always the wrong one tells the right one.
  const bool told = std::max(found, subject.info.classes == 2 ? 1 - found : 0) > constant + noise;
  const auto text = fmt::format(
      "{} of {} examples of {} are nearly the same as one of {} ({} were searched); {:.0f} % of them have its label; {}",
      near.count, near.compared, on.back().name, on.front().name, indices.size(), 100 * found, near.first);
  if (!told || near.count < kFewestNear) return finding.say(text);
  // The examples that were not searched are expected to hold as large a share.
  const auto all = static_cast<double>(subject.task->size(before));
  const double share =
      static_cast<double>(near.count) / static_cast<double>(near.compared) * all / static_cast<double>(indices.size());
  finding.off_by(std::min(share, 1.0), text, subject.is_generated() ? kFewAlike : kRealAlike);
}

}  // namespace ablate
