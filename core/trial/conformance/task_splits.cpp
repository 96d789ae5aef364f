// What stands in two splits, or twice in one.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "core/trial/conformance/task_checks.h"

namespace ablate {
namespace {

constexpr Allowed kNone{0, "another data_seed makes other examples: they are drawn, and can be drawn again"},
    kRealShared{0.01, "real data repeat themselves a little: of IMDb's reviews 0.5 % are in both splits"},
    kFewTwice{0.01, "drawn at random, some may be drawn twice"},
    kRealTwice{0.05, "real data repeat themselves: of IMDb's training reviews 0.4 %"};

std::int64_t index_of(const TaskSubject& subject, std::size_t place) {
  return static_cast<std::int64_t>(place) * (subject.is_stream() ? subject.info.length : 1);
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
  if (subject.is_stream()) return task_passages(subject, on, finding);
  std::unordered_map<std::size_t, std::size_t> places;
  const auto& own = subject.contents(on.front().split);
  std::size_t twice = 0;
  std::string first;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto [at, is_new] = places.emplace(own[i].shown, i);
    if (!is_new && twice++ == 0) first = fmt::format("example {} is example {}", i, at->second);
  }
  if (twice == 0) return;
  constexpr std::size_t kFewest = 50;  // of which the last one is another one by chance once in a thousand
  if (const auto& last = own.back(); twice == 1 && own.size() >= kFewest &&
                                     std::ssize(own) == subject.sample(on.front().split).size &&
                                     (last == own.front() || last == own[own.size() - 2]))
    return finding.off_by(kFault,
                          fmt::format("the last one of {} alone stands there before, as the {} one: size() is one too large",
                                      on.front().name, last == own.front() ? "first" : "one before it"));
  finding.off_by(static_cast<double>(twice) / static_cast<double>(own.size()),
                 fmt::format("{} of {} of {} stand there before; {}", twice, own.size(), on.front().name, first),
                 subject.is_generated() ? kFewTwice : kRealTwice);
}

}  // namespace ablate
