#include "core/util/bytes_text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace ablate {

std::string bytes_text(std::uintmax_t bytes) {
  constexpr std::array kUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g %s", amount, kUnits[unit]);
  return text;
}

std::optional<std::int64_t> bytes_of(const std::string& text) {
  constexpr std::string_view kPrefixes = "KMGT";
  const auto digits = std::min(text.find_first_not_of("0123456789."), text.size());
  if (digits == 0 || digits > 18 || std::count(text.begin(), text.end(), '.') > 1 || text == ".") return std::nullopt;
  double amount = 0;
  const auto* const end = text.data() + digits;
  if (const auto read = std::from_chars(text.data(), end, amount); read.ec != std::errc() || read.ptr != end)
    return std::nullopt;
  std::string unit;
  for (const char c : text.substr(digits))
    if (c != ' ') unit += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  if (const auto prefix = unit.empty() ? kPrefixes.npos : kPrefixes.find(unit.front()); prefix != kPrefixes.npos) {
    amount *= std::pow(1024.0, static_cast<double>(prefix) + 1);
    unit.erase(0, 1);
    if (unit.starts_with("I")) unit.erase(0, 1);
    if (unit.empty() || unit == "B") unit.clear();
  } else if (unit == "B" || unit == "BYTES") {
    unit.clear();
  }
  if (!unit.empty() || !(amount >= 1) || amount > 1e18) return std::nullopt;
  return static_cast<std::int64_t>(amount);
}

}  // namespace ablate
