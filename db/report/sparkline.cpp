#include "db/report/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace ablate::db {

std::string sparkline(std::span<const double> values, std::size_t cells) {
  constexpr std::array kHeights = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kMiddle = 3;
  const auto count = std::min(cells, values.size());
  std::vector<double> means;
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  for (std::size_t cell = 0; cell < count; ++cell) {
    double sum = 0, n = 0;
    for (auto i = cell * values.size() / count; i < (cell + 1) * values.size() / count; ++i)
      if (std::isfinite(values[i])) sum += values[i], ++n;
    means.push_back(sum / n);  // 0 / 0 is no number
    if (n > 0) least = std::min(least, means.back()), greatest = std::max(greatest, means.back());
  }
  std::string text;
  for (const double mean : means) {
    if (!std::isfinite(mean)) {
      text += "×";
      continue;
    }
    const double share = (mean / 2 - least / 2) / (greatest / 2 - least / 2);  // halves: no sum of them is too great
    text += kHeights[greatest > least ? std::min<std::size_t>(7, static_cast<std::size_t>(share * 8)) : kMiddle];
  }
  return text;
}

}  // namespace ablate::db
