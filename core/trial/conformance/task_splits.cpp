// What stands in two splits, or twice in one, or nearly so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/trial/conformance/task_checks.h"
#include "core/trial/conformance/task_likeness.h"
#include "core/trial/conformance/task_tables.h"

namespace ablate {
namespace {

constexpr Allowed kNone{0, "another data_seed makes other examples: they are drawn, and can be drawn again"},
    kRealShared{0.01, "real data repeat themselves a little: of IMDb's reviews 0.5 % are in both splits"},
    kFewTwice{0.01, "drawn at random, some may be drawn twice"},
    kRealTwice{0.05, "real data repeat themselves: of IMDb's training reviews 0.4 %"},
    kFewAlike{0.01, "another data_seed makes other examples: they are drawn, and can be drawn again"},
    kRealAlike{0.1, "real data hold other versions of themselves"};
constexpr std::int64_t kMostSearched = 10'000, kMostSearchedWhenQuick = 200, kMostPositions = 1 << 22;
constexpr std::size_t kMostCompared = 500;
constexpr std::int64_t kFewestNear = 5;  // that tell something of the rest

std::int64_t index_of(const TaskSubject& subject, std::size_t place) {
  return static_cast<std::int64_t>(place) * (subject.is_stream() ? subject.info.length : 1);
}

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

Example read_one(const TaskSubject& subject, Split split, std::int64_t index) {
  return read_examples(*subject.task, subject.info, split, {&index, 1}).front();
}

/// What of one split is nearly the same as something of those before.
struct Near {
  std::int64_t compared = 0, count = 0;
  Hits looked_up;  ///< the label of the one that is alike, as an answer
  std::string first;
};

Near near_to(const TaskSubject& subject, const Likeness& likeness, const NamedSplit& on, Split before) {
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

/// How many of every second one stand among the rest.
double repeated(std::span<const Content> contents) {
  std::unordered_set<std::size_t> rest;
  double found = 0, all = 0;
  for (std::size_t i = 0; i < contents.size(); i += 2) rest.insert(contents[i].shown);
  for (std::size_t i = 1; i < contents.size(); i += 2) ++all, found += rest.count(contents[i].shown) > 0 ? 1 : 0;
  return found / std::max(all, 1.0);
}

}  // namespace

/// @param on the earlier one, and the one that may hold nothing of it
void task_disjoint(const TaskSubject& subject, Splits on, Finding& finding) {
  if (subject.is_stream()) task_windows(subject, on, finding);
  std::unordered_map<std::size_t, std::size_t> places;
  const auto &before = subject.contents(on.front().split), &own = subject.contents(on.back().split);
  for (std::size_t i = before.size(); i-- > 0;) places[before[i].shown] = i;
  std::size_t shared = 0;
  std::string first;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto found = places.find(own[i].shown);
    if (found == places.end()) continue;
    if (shared++ == 0)
      first = fmt::format("example {} is example {} of {}", index_of(subject, i), index_of(subject, found->second),
                          on.front().name);
  }
  if (shared == 0) return;
  // Rows of a stream may be alike, as rows of blanks are.
  const double usual = subject.is_stream() ? 2 * repeated(before) : 0;
  finding.off_by(
      std::max(0.0, static_cast<double>(shared) / static_cast<double>(own.size()) - usual),
      fmt::format("{} of {} of {} stand in {} as well; {}", shared, own.size(), on.back().name, on.front().name, first),
      subject.is_stream() || !subject.is_generated() ? kRealShared : kNone);
}

void task_duplicates(const TaskSubject& subject, Splits on, Finding& finding) {
  std::unordered_map<std::size_t, std::size_t> places;
  const auto& own = subject.contents(on.front().split);
  std::size_t twice = 0;
  std::string first;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto [at, is_new] = places.emplace(own[i].shown, i);
    if (!is_new && twice++ == 0) first = fmt::format("example {} is example {}", i, at->second);
  }
  if (twice == 0) return;
  finding.off_by(static_cast<double>(twice) / static_cast<double>(own.size()),
                 fmt::format("{} of {} of {} stand there before; {}", twice, own.size(), on.front().name, first),
                 subject.is_generated() ? kFewTwice : kRealTwice);
}

/// @param on the one that is looked through, and the one that may hold nothing that is nearly of it
void task_near_duplicates(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto before = on.front().split;
  Likeness likeness(subject.info, subject.sample(before).examples,
                    subject.is_generated() ? Likeness::kMuch : Likeness::kNearlyAll);
  const auto positions = std::max<std::int64_t>(subject.info.length * subject.info.sequences, 1);
  const auto most =
      std::clamp<std::int64_t>(kMostPositions / positions, 2, subject.quick ? kMostSearchedWhenQuick : kMostSearched);
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
  // With two labels the other one is told as well.
  const bool told = std::max(found, subject.info.classes == 2 ? 1 - found : 0) > constant + noise;
  const auto text =
      fmt::format("{} of {} of {} are nearly what stands in {} ({} looked through), whose labels are {:.2f} of theirs; {}",
                  near.count, near.compared, on.back().name, on.front().name, indices.size(), found, near.first);
  if (!told || near.count < kFewestNear) return finding.say(text);
  // Of those that were not looked through as many are expected to be like them.
  const auto all = static_cast<double>(subject.task->size(before));
  const double share =
      static_cast<double>(near.count) / static_cast<double>(near.compared) * all / static_cast<double>(indices.size());
  finding.off_by(std::min(share, 1.0), text, subject.is_generated() ? kFewAlike : kRealAlike);
}

}  // namespace ablate
