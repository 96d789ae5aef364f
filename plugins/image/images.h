#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ablate::image {

struct Shape {
  std::int64_t rows = 0, columns = 0;  ///< pixels
  std::int64_t pixels() const { return rows * columns; }
  bool operator==(const Shape&) const = default;
};

/// Grey pictures of one shape with their labels.
struct Images {
  Shape shape;
  std::vector<std::uint8_t> pixels;  ///< [count, rows, columns], 0 black to 255 white
  std::vector<std::uint8_t> labels;  ///< [count]

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Each square of side x side pixels becomes its mean, rounded, halves up. The side must divide rows and columns.
void pool(Images& images, std::int64_t side);

}  // namespace ablate::image
