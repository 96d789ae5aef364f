#include "core/host/slurm/time_limit.h"

#include <algorithm>

namespace ablate::slurm {
namespace {

constexpr double kBetween_s = 30;  ///< sites ask for no more
constexpr double kSeldom_s = 300;  ///< while the end is far: somebody may change it

}  // namespace

double TimeLimit::margin_s(double whole_s) { return std::clamp(whole_s / 20, kLeast_s, kMost_s); }

void TimeLimit::look() {
  if (is_told_ || !ask_) return;
  const double now_s = clock_.now_s();
  if (now_s >= next_ask_s_) {
    const auto left_s = ask_();
    if (left_s) end_s_ = now_s + *left_s;
    if (left_s && !whole_s_) whole_s_ = left_s;
    const bool is_far = left_s && *left_s > kMost_s + 2 * kSeldom_s;
    next_ask_s_ = now_s + (is_far ? kSeldom_s : kBetween_s);
  }
  if (!end_s_ || *end_s_ - now_s > margin_s(*whole_s_)) return;
  is_told_ = true;
  near_(std::max(0.0, *end_s_ - now_s));
}

}  // namespace ablate::slurm
