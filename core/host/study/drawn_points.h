// Random points of [grid.tune]: values of several parameters, drawn from ranges before anything runs (Bergstra and Bengio
// 2012).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/host/study/draft.h"

namespace ablate {

/// train.learning_rate = { log-uniform = [1e-4, 1e-1] }, or uniform.
struct DrawnRange {
  std::string path;  ///< "train.learning_rate"
  double low = 0, high = 0;
  bool logarithmic = false;
  Location key = {}, where = {};  ///< of the two ends
};

/// Whether a leaf of [grid.tune] is a range, by the end of its path.
bool is_range(const std::string& path);

/// Nothing, and a diagnostic, where its ends are none. @param path is_range()
std::optional<DrawnRange> read_range(const std::string& path, const Node& ends, Diagnostics& diagnostics);

/// So many different points, each with a value of every range: an axis of one range, or a zip. Values have three digits. The
/// i-th value that a range draws depends on its path, its ends and the seed alone: more points leave the first ones as they
/// are, and so does another range, unless two points were equal. The same on every machine. Fewer points, and a diagnostic,
/// where ranges are so narrow that there are no more.
Group drawn_points(const std::vector<DrawnRange>& ranges, std::size_t count, std::uint64_t seed, Diagnostics& diagnostics);

}  // namespace ablate
