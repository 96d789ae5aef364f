#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace ablate::image {

struct Shape {
  std::int64_t rows = 0, columns = 0;  ///< pixels
  std::int64_t channels = 1;           ///< grey; 3: red, green and blue
  std::int64_t values() const { return rows * columns * channels; }
  bool operator==(const Shape&) const = default;
};

/// Pictures of one shape with their labels.
struct Images {
  Shape shape;
  std::vector<std::uint8_t> values;  ///< [count, rows, columns, channels], 0 dark to 255 bright
  std::vector<std::uint8_t> labels;  ///< [count]

  std::int64_t size() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Throws std::invalid_argument where squares of that side do not fill a picture.
void check_pool(Shape shape, std::int64_t side);

/// Each square of side x side pixels becomes its mean, channel by channel, rounded, halves up. The side divides rows and
/// columns.
void pool(Images& images, std::int64_t side);

}  // namespace ablate::image
