// The whole number at which a model has as many of something as another: a search of few counts, each of which builds a model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "core/host/study/matching.h"
#include "core/records/study_match.h"

namespace ablate {
namespace {

using Widths = std::vector<std::int64_t>;

class WidthSearch {
 public:
  WidthSearch(const WidthRange& range, std::int64_t begin, std::int64_t target,
              const std::function<std::vector<CountedWidth>(const Widths&)>& count)
      : range_(range), begin_(begin), target_(target), count_(count) {}

  FoundWidth find() {
    ask({begin_, begin_ + 1, begin_ < range_.most ? begin_ : begin_ - 1});
    if (const auto own = number_at(begin_); own && is_matched(*own, target_)) return {begin_, *own, ""};
    if (find_steps()) bracket();
    return nearest();
  }

 private:
  void ask(const Widths& widths) {
    Widths wanted;
    for (const auto width : widths)
      if (width >= range_.least && width <= range_.most && !known_.contains(width) &&
          known_.size() + wanted.size() < kMostCounts)
        if (std::find(wanted.begin(), wanted.end(), width) == wanted.end()) wanted.push_back(width);
    if (wanted.empty()) return;
    const auto counted = count_(wanted);
    for (std::size_t i = 0; i < wanted.size(); ++i) known_[wanted[i]] = counted.at(i);
  }

  /// Nothing of what is refused, or was not asked.
  std::optional<std::int64_t> number_at(std::int64_t width) const {
    const auto found = known_.find(width);
    return found == known_.end() || !found->second.refused.empty() ? std::nullopt : std::optional(found->second.number);
  }

  Widths accepted() const {
    Widths all;
    for (const auto& [width, counted] : known_)
      if (counted.refused.empty()) all.push_back(width);
    return all;
  }

  /// Which widths are accepted: every `step_`th from `anchor_` on. False where they are fewer than two.
  bool find_steps() {
    for (const std::int64_t sign : {1, -1}) {
      if (accepted().size() >= 2) break;
      Widths near;
      for (const std::int64_t offset : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 32, 48, 64})
        near.push_back(begin_ + sign * offset);
      ask(near);
    }
    auto all = accepted();
    if (all.size() < 2) return false;
    std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) { return std::abs(a - begin_) < std::abs(b - begin_); });
    anchor_ = all.front();
    step_ = std::abs(all[1] - anchor_);
    for (const auto width : all)
      if (width != anchor_) step_ = std::min(step_, std::abs(width - anchor_));
    return true;
  }

  std::int64_t on_steps(std::int64_t width) const { return anchor_ + (width - anchor_) / step_ * step_; }

  /// The next one in a direction, about twice or half as large; the same where there is none.
  std::int64_t beyond(std::int64_t width, int direction) const {
    const auto next =
        direction > 0 ? on_steps(std::max(2 * width, width + step_)) : on_steps(std::min(width / 2, width - step_));
    const auto last = direction > 0 ? on_steps(range_.most) : on_steps(range_.least);
    return direction > 0 ? std::min(next, last) : std::max(next, last);
  }

  /// Whether the number grows with the width (1), falls (-1), or does not change as far as one has looked (0).
  int slope() {
    const auto changes = [&](std::int64_t width) {
      const auto other = number_at(width), own = number_at(anchor_);
      return !other || *other == *own || width == anchor_ ? 0 : (*other > *own) == (width > anchor_) ? 1 : -1;
    };
    for (const auto width : accepted())
      if (const int found = changes(width); found != 0) return found;
    constexpr int kFar = 4;
    for (const int direction : {1, -1}) {
      auto width = anchor_;
      for (int i = 0; i < kFar; ++i) {
        ask({width = beyond(width, direction)});
        if (const int found = changes(width); found != 0) return found;
      }
    }
    return 0;
  }

  /// Looks between a width that is too small and one that is too large, until no other lies between.
  void bracket() {
    const int grows = slope();
    if (grows == 0) return;
    const auto is_short = [&](std::int64_t number) { return grows > 0 ? number < target_ : number > target_; };
    auto near = anchor_;
    const bool up = is_short(*number_at(anchor_));
    auto far = near;
    while (known_.size() < kMostCounts) {
      const auto next = beyond(far, up ? 1 : -1);
      if (next == far) return;  // the range ends before the number is met
      ask({far = next});
      const auto number = number_at(far);
      if (!number || is_short(*number) != up) break;
      near = far;
    }
    for (bool between = true; std::abs(far - near) > step_ && known_.size() < kMostCounts; between = !between) {
      const auto guess = between ? by_numbers(near, far) : on_steps(near + (far - near) / 2);
      ask({guess});
      const auto number = number_at(guess);
      if (number == target_) return;
      (number && is_short(*number) == up ? near : far) = guess;
    }
  }

  /// Where the target lies on a line through two widths, strictly between them; their middle where one has no number.
  std::int64_t by_numbers(std::int64_t near, std::int64_t far) const {
    const auto low = number_at(near), high = number_at(far);
    double share = 0.5;
    if (high && *high != *low) share = static_cast<double>(target_ - *low) / static_cast<double>(*high - *low);
    const auto steps = (far - near) / step_;
    const auto most = std::abs(steps) - 1;
    const auto taken = std::clamp<std::int64_t>(std::llround(share * static_cast<double>(std::abs(steps))), 1, most);
    return near + (steps > 0 ? taken : -taken) * step_;
  }

  FoundWidth nearest() const {
    const auto all = accepted();
    if (all.empty())
      return {.failed = fmt::format("found none in [{}, {}] near {} that the model accepts ({})", range_.least, range_.most,
                                    begin_, known_.at(begin_).refused)};
    int grows = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
      const auto before = *number_at(all[i - 1]), now = *number_at(all[i]);
      const int here = now > before ? 1 : now < before ? -1 : 0;
      if (here != 0 && grows != 0 && here != grows)
        return {.failed = fmt::format("found {} at {}, {} at {} and {} at {}, expected a number that only grows or only falls "
                                      "with it",
                                      *number_at(all.front()), all.front(), before, all[i - 1], now, all[i])};
      if (here != 0) grows = here;
    }
    if (grows == 0 && all.size() > 1)
      return {.failed = fmt::format("found {} at {} and at {}, expected a number that changes with it", *number_at(all.front()),
                                    all.front(), all.back())};
    FoundWidth best{all.front(), *number_at(all.front()), ""};
    for (const auto width : all)
      if (const auto number = *number_at(width); std::abs(number - target_) < std::abs(best.number - target_))
        best = {width, number, ""};
    return best;
  }

  const WidthRange range_;
  const std::int64_t begin_, target_;
  const std::function<std::vector<CountedWidth>(const Widths&)>& count_;
  std::map<std::int64_t, CountedWidth> known_;
  std::int64_t anchor_ = 0, step_ = 1;
};

}  // namespace

FoundWidth find_width(const WidthRange& range, std::int64_t begin, std::int64_t target,
                      const std::function<std::vector<CountedWidth>(const std::vector<std::int64_t>&)>& count) {
  return WidthSearch(range, begin, target, count).find();
}

}  // namespace ablate
