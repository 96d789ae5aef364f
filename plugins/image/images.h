#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ablate::image {

inline constexpr std::int64_t kValues = 256;

/// Treatment of a picture's colours. Grey files have no colours.
enum class Colours { kGrey, kTensorflowGrey, kKept };

struct Shape {
  std::int64_t rows = 0, columns = 0;  ///< pixels
  std::int64_t channels = 1;           ///< 1: grey; 3: red, green and blue
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

/// Returns the shape after pool(). Throws std::invalid_argument if the squares do not fill a picture.
Shape pooled(Shape shape, std::int64_t side);

/// Replaces each square of side x side pixels by its mean per channel, rounded (halves up). Throws if pooled() would.
void pool(Images& images, std::int64_t side);

/// Draws values of this shape in characters, two per pixel; denser characters are brighter.
std::string drawing(Shape shape, std::span<const std::uint8_t> values);

}  // namespace ablate::image
