#include "tools/plot/scale.h"

#include <algorithm>
#include <cmath>

namespace ablate {

void Extent::take(double value) {
  if (!std::isfinite(value)) return;
  low = std::min(low, value);
  high = std::max(high, value);
}

Scale::Scale(const db::FigureAxis& axis, Extent range, double margin) : axis_(axis) {
  if (has_names()) {
    low_ = -0.5, high_ = static_cast<double>(axis.names.size()) - 0.5;
    return;
  }
  if (range.empty()) range = axis.log ? Extent{1, 10} : Extent{0, 1};
  low_ = axis.log ? std::log10(range.low) : range.low, high_ = axis.log ? std::log10(range.high) : range.high;
  if (!(high_ - low_ > 1e-12 * std::max(std::abs(low_), std::abs(high_)))) {  // one number alone stands in the middle
    const double around = axis.log ? 0.5 : low_ == 0 ? 1 : std::abs(low_) / 10;
    low_ -= around, high_ += around;
  }
  const double free = margin * (high_ - low_);
  low_ -= free, high_ += free;
}

double Scale::share(double value) const { return ((axis_.log ? std::log10(value) : value) - low_) / (high_ - low_); }

std::vector<Tick> Scale::ticks(int most) const {
  std::vector<Tick> all;
  if (has_names()) {
    for (std::size_t i = 0; i < axis_.names.size(); ++i) all.push_back({static_cast<double>(i), axis_.names[i]});
    return all;
  }
  for (const double value : axis_.ticks)
    if (const double at = share(value); at >= 0 && at <= 1) all.push_back({value, tick_text(value)});
  if (!all.empty()) return all;
  return axis_.log ? log_ticks(std::pow(10, low_), std::pow(10, high_), most) : linear_ticks(low_, high_, most);
}

}  // namespace ablate
