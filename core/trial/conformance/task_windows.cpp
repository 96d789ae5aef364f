// What two splits of a stream share, wherever it stands in their rows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/trial/conformance/task_checks.h"
#include "core/trial/conformance/task_streams.h"
#include "core/trial/conformance/task_symbols.h"

namespace ablate {
namespace {

constexpr Allowed kDrawnText{0.01, "drawn, it can be drawn again"},
    kRealText{0.05, "beyond what the earlier split repeats of itself: real texts quote each other"},
    kRealPassages{0.05, "real texts quote themselves: of enwik8 0.011"};
constexpr std::int64_t kMostBefore = 1 << 20, kMostOwn = 1 << 17, kEachStretch = 1 << 14;
/// A window is looked for where what stands in it, each symbol after the one before, is worth so much: 2^37 pairs of windows
/// of texts whose symbols hang on the one before alone are equal once in 10^15. Windows are as long as have twice that.
constexpr double kRareWindow = 60;
constexpr std::size_t kShortestWindow = 4, kLongestWindow = 4096;

using Text = std::vector<std::uint64_t>;

std::vector<Text> texts_of(const TaskSubject& subject, Split split, std::int64_t most) {
  const auto size = subject.sample(split).size;
  std::vector<Text> all;
  for (const auto begin : stretches(size, most, kEachStretch))
    all.push_back(symbols_of(subject, stretch(subject, split, begin, size <= most ? size : kEachStretch)));
  // Of one, two halves, so that they can be compared.
  if (all.size() == 1) {
    const auto half = all.front().begin() + std::ssize(all.front()) / 2;
    Text rest(half, all.front().end());
    all.front().erase(half, all.front().end());
    all.push_back(std::move(rest));
  }
  return all;
}

/// What a symbol is worth after the one before it, in nats.
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
  /// Symbols that are worth so much, as a rule.
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

  /// One window after the other.
  void add(const Text& text) {
    each(text, [&](std::size_t begin, std::uint64_t hash) {
      if (begin % length_ == 0) known_.insert(hash);
    });
  }
  /// Adds each window of a text, and counts the places in windows that were there before.
  void look_and_add(const Text& text, double& all, double& met) {
    std::size_t seen = 0;  // places before this one are counted
    each(text, [&](std::size_t begin, std::uint64_t hash) {
      if (known_.insert(hash).second) return;
      met += static_cast<double>(begin + length_ - std::max(begin, seen));
      seen = begin + length_;
    });
    all += static_cast<double>(text.size());
  }
  /// Counts each window of a text, wherever it begins, and those that are known.
  void look(const Text& text, double& all, double& met) const {
    each(text, [&](std::size_t, std::uint64_t hash) { ++all, met += known_.count(hash) > 0 ? 1 : 0; });
  }
  /// A passage that two texts share has one window in so many that is known.
  double share(double all, double met) const { return all > 0 ? std::min(met * static_cast<double>(length_) / all, 1.0) : 0; }

 private:
  template <class Take>
  void each(const Text& text, const Take& take) const {
    constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
    std::uint64_t hash = 0, last = 1;  // last: the weight of the symbol that leaves
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

}  // namespace

/// @param on the earlier one, and the one that may hold nothing of it
void task_windows(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto before = texts_of(subject, on.front().split, kMostBefore), own = texts_of(subject, on.back().split, kMostOwn);
  const Surprise surprise(before);
  const auto length = std::max(surprise.symbols(2 * kRareWindow), kShortestWindow);
  if (length > kLongestWindow) return;
  Windows all(surprise, length), some(surprise, length);
  double own_all = 0, own_met = 0, rest_all = 0, rest_met = 0;
  for (std::size_t i = 0; i < before.size(); ++i) all.add(before[i]), i % 2 == 0 ? some.add(before[i]) : void();
  for (const auto& text : own) all.look(text, own_all, own_met);
  for (std::size_t i = 1; i < before.size(); i += 2) some.look(before[i], rest_all, rest_met);
  // Half of it says for half of what it repeats.
  const double share = all.share(own_all, own_met), usual = 2 * some.share(rest_all, rest_met);
  if (share <= usual) return;
  finding.off_by(
      share - usual,
      fmt::format("{:.3f} of {} stands in {}, read in windows of {} places wherever they begin, of which {} repeats {:.3f}",
                  share, on.back().name, on.front().name, length, on.front().name, usual),
      subject.is_generated() ? kDrawnText : kRealText);
}

/// Finds passages that a split has twice, wherever they begin.
void task_passages(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto texts = texts_of(subject, on.front().split, kMostOwn);
  const Surprise surprise(texts);
  const double nats = subject.is_generated() ? 75 : 200;  // of enwik8 a twelfth stands there before in windows of 75
  const auto length = std::max(surprise.symbols(nats), kShortestWindow);
  if (length > kLongestWindow) return;
  Windows windows(surprise, length);
  double all = 0, met = 0;
  for (const auto& text : texts) windows.look_and_add(text, all, met);
  if (met == 0) return;
  finding.off_by(met / all,
                 fmt::format("{:.4f} of {} stands there before, read in windows of {} places wherever they begin", met / all,
                             on.front().name, length),
                 subject.is_generated() ? kDrawnText : kRealPassages);
}

}  // namespace ablate
