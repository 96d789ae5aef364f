#include "tools/plot/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ablate {
namespace {

constexpr double kSlack = 1e-9;   ///< share of a step, allowed for rounding at the ends
constexpr double kLong = 1e6;     ///< from here on, numbers are written with a power of ten
constexpr double kShort = 1e-4;   ///< numbers below it also have a power of ten
constexpr int kMostTicks = 1000;  ///< guard for the loop over multiples

std::string raised(int exponent) {
  static constexpr const char* kDigits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent))) text += kDigits[digit - '0'];
  return text;
}

std::string power_text(double value, int digits) {
  const int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + kSlack));
  const double mantissa = value / std::pow(10, exponent);
  const auto power = "10" + raised(exponent);
  if (std::abs(mantissa - 1) < kSlack) return power;
  return fmt::format("{:.{}f}·{}", mantissa, digits, power);
}

/// Replaces a hyphen by a minus.
std::string with_minus(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

/// Returns the smallest number of the form 1, 2 or 5 times a power of ten that is not below `least`.
double nice_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double times : {1.0, 2.0, 5.0})
    if (times * power >= least * (1 - kSlack)) return times * power;
  return 10 * power;
}

std::vector<Tick> multiples(double low, double high, double step) {
  std::vector<Tick> ticks;
  const double greatest = std::max(std::abs(low), std::abs(high));
  const int exponent = static_cast<int>(std::floor(std::log10(step) + kSlack));
  for (double i = std::ceil(low / step - kSlack); i * step <= high + step * kSlack && ticks.size() < kMostTicks; ++i) {
    const double value = i * step;
    std::string text;
    if (value == 0)
      text = "0";
    else if (greatest >= kLong || step < kShort)
      text = power_text(value, std::max(0, static_cast<int>(std::floor(std::log10(std::abs(value)) + kSlack)) - exponent));
    else
      text = fmt::format("{:.{}f}", value, std::max(0, -exponent));
    ticks.push_back({value, with_minus(text)});
  }
  return ticks;
}

}  // namespace

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
  if (!(high_ - low_ > 1e-12 * std::max(std::abs(low_), std::abs(high_)))) {  // a single number is in the middle
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

std::vector<Tick> linear_ticks(double low, double high, int most) {
  double step = nice_step((high - low) / std::max(most, 1));
  auto ticks = multiples(low, high, step);
  while (ticks.size() > static_cast<std::size_t>(std::max(most, 2))) ticks = multiples(low, high, step = nice_step(step * 1.5));
  if (ticks.size() < 2)  // a single number shows no scale
    if (auto more = multiples(low, high, nice_step(step * 0.4)); more.size() <= static_cast<std::size_t>(most) + 1) return more;
  return ticks;
}

std::vector<Tick> log_ticks(double low, double high, int most) {
  const int first = static_cast<int>(std::ceil(std::log10(low) - kSlack));
  const int last = static_cast<int>(std::floor(std::log10(high) + kSlack));
  const int decades = last - first + 1;
  std::vector<Tick> ticks;
  if (decades >= 2) {
    const int every = std::max(1, static_cast<int>(std::ceil(static_cast<double>(decades) / std::max(most, 2))));
    for (int i = first; i <= last; i += every) ticks.push_back({std::pow(10, i), tick_text(std::pow(10, i))});
    return ticks;
  }
  for (int i = first - 1; i <= last; ++i)
    for (const double times : {1.0, 2.0, 5.0})
      if (const double value = times * std::pow(10, i); value >= low * (1 - kSlack) && value <= high * (1 + kSlack))
        ticks.push_back({value, tick_text(value)});
  return ticks.size() >= 2 ? ticks : linear_ticks(low, high, most);
}

std::string tick_text(double value) {
  const double size = std::abs(value);
  if (size != 0 && (size >= kLong || size < kShort * (1 - kSlack))) return with_minus(power_text(value, 0));
  return with_minus(fmt::format("{:.6g}", value));
}

}  // namespace ablate
