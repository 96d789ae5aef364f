#include "core/util/rate_text.h"

#include <charconv>
#include <cmath>

namespace ablate {
namespace {

constexpr std::int64_t kLargestDenominator = 1'000'000;

template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Rate> rate_from(double value) {
  if (!(value > 0) || value > 1) return std::nullopt;
  // Continued fraction; stops at the first convergent that is equal to the double.
  double rest = value;
  std::int64_t n0 = 0, n1 = 1, d0 = 1, d1 = 0;
  for (int step = 0; step < 64; ++step) {
    const auto whole = static_cast<std::int64_t>(std::floor(rest));
    const std::int64_t n = whole * n1 + n0, d = whole * d1 + d0;
    if (d > kLargestDenominator) break;
    n0 = n1, n1 = n, d0 = d1, d1 = d;
    if (static_cast<double>(n) / static_cast<double>(d) == value || rest == static_cast<double>(whole)) break;
    rest = 1.0 / (rest - static_cast<double>(whole));
  }
  if (n1 <= 0 || std::abs(static_cast<double>(n1) / static_cast<double>(d1) - value) > 1e-9) return std::nullopt;
  return reduced({n1, d1});
}

std::optional<Rate> parse_rate(std::string_view text) {
  if (const auto slash = text.find('/'); slash != std::string_view::npos) {
    const auto n = number<std::int64_t>(text.substr(0, slash)), d = number<std::int64_t>(text.substr(slash + 1));
    if (!n || !d || *n <= 0 || *d <= 0 || *n > *d || *d > kLargestDenominator) return std::nullopt;
    return reduced({*n, *d});
  }
  const auto value = number<double>(text);
  return value ? rate_from(*value) : std::nullopt;
}

std::string to_text(Rate rate) {
  if (rate.denominator == 1) return std::to_string(rate.numerator);
  return std::to_string(rate.numerator) + "/" + std::to_string(rate.denominator);
}

}  // namespace ablate
