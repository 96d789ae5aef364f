// Checks for examples that are in two splits, or twice in one split.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/trial/conformance/task/checks.h"
#include "core/trial/conformance/task/symbols.h"

namespace ablate {
namespace {

constexpr Allowed kNone{0, "another data_seed makes other examples, so the task can draw a repeated example again"},
    kRealShared{0.01, "real data repeat themselves a little: 0.5 % of IMDb's reviews are in both splits"},
    kFewTwice{0.01, "examples are drawn at random, so some may be drawn twice"},
    kRealTwice{0.05, "real data repeat themselves: 0.4 % of IMDb's training reviews do"};

std::int64_t index_of(const TaskSubject& subject, std::size_t place) {
  return static_cast<std::int64_t>(place) * (subject.is_stream() ? subject.info.length : 1);
}

/// Takes every second example, and returns the share of them that is also among the rest.
double repeated(std::span<const Content> contents) {
  std::unordered_set<std::size_t> rest;
  double found = 0, all = 0;
  for (std::size_t i = 0; i < contents.size(); i += 2) rest.insert(contents[i].shown);
  for (std::size_t i = 1; i < contents.size(); i += 2) ++all, found += rest.count(contents[i].shown) > 0 ? 1 : 0;
  return found / std::max(all, 1.0);
}

constexpr Allowed kDrawnText{0.01, "text is drawn, so the task can draw a repeated passage again"},
    kRealText{0.05, "share beyond the repetitions in the earlier split: real texts quote each other"},
    kRealPassages{0.05, "real texts quote themselves: in enwik8, 0.011 of all passages"};
constexpr std::int64_t kMostBefore = 1 << 20, kMostOwn = 1 << 17, kEachStretch = 1 << 14;
/// Least information of a window that is searched, in nats: the sum over its symbols, each given the symbol before it. If a
/// symbol depends only on the symbol before it, 2^37 pairs of windows contain an equal pair by chance once in 10^15. Usual
/// windows have twice this information.
constexpr double kRareWindow = 60;
constexpr std::size_t kShortestWindow = 4, kLongestWindow = 4096;

using Text = std::vector<std::uint64_t>;

std::vector<Text> texts_of(const TaskSubject& subject, Split split, std::int64_t most) {
  const auto size = subject.sample(split).size;
  std::vector<Text> all;
  for (const auto begin : stretches(size, most, kEachStretch))
    all.push_back(symbols_of(subject, stretch(subject, split, begin, size <= most ? size : kEachStretch)));
  // A single text is cut into halves, so that they can be compared.
  if (all.size() == 1) {
    const auto half = all.front().begin() + std::ssize(all.front()) / 2;
    Text rest(half, all.front().end());
    all.front().erase(half, all.front().end());
    all.push_back(std::move(rest));
  }
  return all;
}

/// Information of a symbol, given the symbol before it, in nats.
class Surprise {
 public:
  explicit Surprise(const std::vector<Text>& texts) {
    for (const auto& text : texts)
      for (std::size_t at = 1; at < text.size(); ++at) {
        ++pairs_[mixed(text[at - 1], text[at])];
        ++firsts_[text[at - 1]];
      }
    for (const auto& text : texts)
      for (std::size_t at = 1; at < text.size(); ++at) sum_ += (*this)(text[at - 1], text[at]), ++count_;
  }
  double operator()(std::uint64_t before, std::uint64_t symbol) const {
    const auto pair = pairs_.find(mixed(before, symbol)), first = firsts_.find(before);
    const double all = first == firsts_.end() ? 0 : first->second;
    return std::log((all + static_cast<double>(firsts_.size())) / ((pair == pairs_.end() ? 0 : pair->second) + 1));
  }
  /// Returns the number of symbols that usually have this much information.
  std::size_t symbols(double nats) const {
    const double mean = count_ > 0 ? sum_ / count_ : 0;
    return mean > 0 ? static_cast<std::size_t>(std::min(std::ceil(nats / mean), 1e9)) : kLongestWindow + 1;
  }

 private:
  std::unordered_map<std::uint64_t, double> pairs_, firsts_;
  double sum_ = 0, count_ = 0;
};

class Windows {
 public:
  Windows(const Surprise& surprise, std::size_t length) : surprise_(surprise), length_(length) {}

  /// Adds windows that follow each other without overlap.
  void add(const Text& text) {
    each(text, [&](std::size_t begin, std::uint64_t hash) {
      if (begin % length_ == 0) known_.insert(hash);
    });
  }
  /// Adds each window of a text, and counts the positions in windows that were known before.
  void look_and_add(const Text& text, double& all, double& met) {
    std::size_t seen = 0;  // positions before this one have been counted
    each(text, [&](std::size_t begin, std::uint64_t hash) {
      if (known_.insert(hash).second) return;
      met += static_cast<double>(begin + length_ - std::max(begin, seen));
      seen = begin + length_;
    });
    all += static_cast<double>(text.size());
  }
  /// Counts the windows of a text, one from each position on, and the known windows among them.
  void look(const Text& text, double& all, double& met) const {
    each(text, [&](std::size_t, std::uint64_t hash) { ++all, met += known_.count(hash) > 0 ? 1 : 0; });
  }
  /// Returns the known share of a text. add() skips overlapping windows: in a shared passage, one window in `length_` is known.
  double share(double all, double met) const { return all > 0 ? std::min(met * static_cast<double>(length_) / all, 1.0) : 0; }

 private:
  template <class Take>
  void each(const Text& text, const Take& take) const {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
    std::uint64_t hash = 0, last = 1;  // last: weight of the symbol that leaves the window
    double worth = 0;
    for (std::size_t i = 0; i < length_; ++i) last *= factor;
    const auto worth_of = [&](std::size_t at) { return at > 0 ? surprise_(text[at - 1], text[at]) : 0.0; };
    for (std::size_t at = 0; at < text.size(); ++at) {
      hash = hash * factor + mixed(1, text[at]);
      worth += worth_of(at);
      if (at >= length_) {
        hash -= last * mixed(1, text[at - length_]);
        worth -= worth_of(at - length_);
      }
      if (at + 1 >= length_ && worth >= kRareWindow) take(at + 1 - length_, hash);
    }
  }

  const Surprise& surprise_;
  std::size_t length_;
  std::unordered_set<std::uint64_t> known_;
};

/// @param on the earlier split, and the split that must not contain parts of it
void look_at_windows(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto before = texts_of(subject, on.front().split, kMostBefore), own = texts_of(subject, on.back().split, kMostOwn);
  const Surprise surprise(before);
  const auto length = std::max(surprise.symbols(2 * kRareWindow), kShortestWindow);
  if (length > kLongestWindow) return;
  Windows all(surprise, length), some(surprise, length);
  double own_all = 0, own_met = 0, rest_all = 0, rest_met = 0;
  for (std::size_t i = 0; i < before.size(); ++i) all.add(before[i]), i % 2 == 0 ? some.add(before[i]) : void();
  for (const auto& text : own) all.look(text, own_all, own_met);
  for (std::size_t i = 1; i < before.size(); i += 2) some.look(before[i], rest_all, rest_met);
  // Repetitions were searched in only half of the earlier split, so their share is doubled.
  const double share = all.share(own_all, own_met), usual = 2 * some.share(rest_all, rest_met);
  if (share <= usual) return;
  finding.off_by(share - usual,
                 fmt::format("{:.3f} of {} is also in {}, by windows of {} places at any start; {} repeats {:.3f} of itself",
                             share, on.back().name, on.front().name, length, on.front().name, usual),
                 subject.is_generated() ? kDrawnText : kRealText);
}

/// Finds passages that occur twice in a split, whichever positions they start at.
void look_at_passages(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto texts = texts_of(subject, on.front().split, kMostOwn);
  const Surprise surprise(texts);
  const double nats = subject.is_generated() ? 75 : 200;  // in windows of 75 nats, a twelfth of enwik8 repeats itself
  const auto length = std::max(surprise.symbols(nats), kShortestWindow);
  if (length > kLongestWindow) return;
  Windows windows(surprise, length);
  double all = 0, met = 0;
  for (const auto& text : texts) windows.look_and_add(text, all, met);
  if (met == 0) return;
  finding.off_by(met / all,
                 fmt::format("{:.4f} of {} repeats earlier text, by windows of {} places at any start", met / all,
                             on.front().name, length),
                 subject.is_generated() ? kDrawnText : kRealPassages);
}

}  // namespace

/// @param on the earlier split, and the split that must not contain parts of it
void task_disjoint(const TaskSubject& subject, Splits on, Finding& finding) {
  if (subject.is_stream()) look_at_windows(subject, on, finding);
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
  // Rows of a stream may be equal, for instance rows of blanks.
  const double usual = subject.is_stream() ? 2 * repeated(before) : 0;
  finding.off_by(
      std::max(0.0, static_cast<double>(shared) / static_cast<double>(own.size()) - usual),
      fmt::format("{} of {} examples of {} are also in {}; {}", shared, own.size(), on.back().name, on.front().name, first),
      subject.is_stream() || !subject.is_generated() ? kRealShared : kNone);
}

void task_duplicates(const TaskSubject& subject, Splits on, Finding& finding) {
  if (subject.is_stream()) return look_at_passages(subject, on, finding);
  std::unordered_map<std::size_t, std::size_t> places;
  const auto& own = subject.contents(on.front().split);
  std::size_t twice = 0;
  std::string first;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto [at, is_new] = places.emplace(own[i].shown, i);
    if (!is_new && twice++ == 0) first = fmt::format("example {} is example {}", i, at->second);
  }
  if (twice == 0) return;
  constexpr std::size_t kFewest = 50;  // a pair that is equal by chance is one of the two pairs below once in 600 cases
  if (const auto& last = own.back(); twice == 1 && own.size() >= kFewest &&
                                     std::ssize(own) == subject.sample(on.front().split).size &&
                                     (last == own.front() || last == own[own.size() - 2]))
    return finding.off_by(kFault,
                          fmt::format("only the last example of {} repeats an earlier example, the {}: size() is one too large",
                                      on.front().name, last == own.front() ? "first" : "one before it"));
  finding.off_by(static_cast<double>(twice) / static_cast<double>(own.size()),
                 fmt::format("{} of {} examples of {} repeat an earlier one; {}", twice, own.size(), on.front().name, first),
                 subject.is_generated() ? kFewTwice : kRealTwice);
}

}  // namespace ablate
