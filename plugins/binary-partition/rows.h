// Maps each node that a token attends to onto its row in the table of relative positions.
#pragma once

#include <algorithm>
#include <vector>

#include "level.h"

namespace binary_partition {

/// Rows of the table of relative positions. Row 0 is for the token itself. The left side's rows follow, then the right side's.
struct Rows {
  Tensor of_columns;  ///< [sides, levels, nodes + 1] int64: the row of each column of Level
  std::int64_t count = 1;
};

/// Returns the number of nodes of a level that the last token attends to on its left: the maximum over all tokens.
inline std::int64_t seen_on_left(std::int64_t level, std::int64_t nodes, std::int64_t length) {
  return std::clamp<std::int64_t>(((length - 2 + nodes) >> level) - nodes + 1, 0, nodes);
}
/// Returns the number of nodes of a level that the first token attends to on its right: the maximum over all tokens.
inline std::int64_t seen_on_right(std::int64_t level, std::int64_t nodes, std::int64_t length) {
  const auto last = [&](std::int64_t l) { return (length - 1) >> l; };
  const auto first = [&](std::int64_t l) { return ((1 - nodes) >> l) + nodes; };  // first node of token 0
  if (level > 0 && first(level - 1) + nodes > last(level - 1)) return 0;          // the lower levels cover all tokens
  return std::clamp<std::int64_t>(last(level) - first(level) + 1, 0, nodes);
}

/// Returns the rows that some token of the longest sequence uses.
/// @param scales number of levels with their own rows; all higher levels use the rows of the highest of these levels
inline Rows rows_of(std::int64_t nodes, std::int64_t scales, std::int64_t length, bool causal) {
  const auto levels = height_of(length, nodes).levels;
  Rows rows;
  std::vector<std::int64_t> columns;
  for (const bool left : {true, false}) {
    if (!left && causal) break;
    std::vector<std::int64_t> first, counts;  // by scale
    for (std::int64_t scale = 0; scale < std::min(scales, levels); ++scale) {
      first.push_back(rows.count);
      counts.push_back(left ? seen_on_left(scale, nodes, length) : seen_on_right(scale, nodes, length));
      rows.count += counts.back();
    }
    const auto row = [&](std::int64_t level, std::int64_t number) {
      const auto scale = static_cast<std::size_t>(std::min(level, static_cast<std::int64_t>(first.size()) - 1));
      return number < counts[scale] ? first[scale] + number : 0;  // 0: unused
    };
    for (std::int64_t level = 0; level < levels; ++level) {
      columns.push_back(level + 1 < levels ? row(level + 1, 0) : 0);
      for (std::int64_t number = nodes - 1; number >= 0; --number) columns.push_back(row(level, number));
    }
  }
  rows.of_columns = ablate::integers(columns).view({causal ? 1 : 2, levels, nodes + 1});
  return rows;
}

}  // namespace binary_partition
