// Small things that most tasks do with an index or a row of a batch. Torch-free.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <string>

#include "ablate/task.h"

namespace ablate {

/// An index of Task::read or Task::describe; throws std::out_of_range where there is no such example.
inline std::size_t place_of(std::int64_t index, std::int64_t size) {
  if (index >= 0 && index < size) return static_cast<std::size_t>(index);
  throw std::out_of_range("found the index " + std::to_string(index) + ", expected one in [0, " + std::to_string(size) + ")");
}

/// Of a row the first places are there, the rest of it is padding.
inline void end_row(const BatchView& batch, std::size_t row, std::size_t places, std::size_t sequence = 0) {
  const auto length = static_cast<std::size_t>(batch.length);
  std::ranges::fill(batch.present[sequence].subspan(row * length, length).subspan(places), std::uint8_t{0});
}

}  // namespace ablate
