#include "core/util/bytes_text.h"

#include <array>
#include <cstdio>

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

}  // namespace ablate
