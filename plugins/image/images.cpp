#include "images.h"

#include <numeric>
#include <stdexcept>
#include <string_view>

namespace ablate::image {

Shape pooled(Shape shape, std::int64_t side) {
  if (shape.rows % side != 0 || shape.columns % side != 0)
    throw std::invalid_argument("image: pool = " + std::to_string(side) + " does not divide pictures of " +
                                std::to_string(shape.rows) + " x " + std::to_string(shape.columns) +
                                " pixels; expected a divisor of both sides");
  return {shape.rows / side, shape.columns / side, shape.channels};
}

void pool(Images& images, std::int64_t side) {
  const auto from = images.shape, to = pooled(from, side);
  if (side == 1) return;
  const std::int64_t area = side * side;
  std::vector<std::uint8_t> pooled(static_cast<std::size_t>(images.size() * to.values()));
  for (std::int64_t i = 0; i < images.size(); ++i) {
    const auto* picture = images.values.data() + i * from.values();
    for (std::int64_t row = 0; row < to.rows; ++row)
      for (std::int64_t column = 0; column < to.columns; ++column) {
        auto* const pixel = pooled.data() + i * to.values() + (row * to.columns + column) * to.channels;
        for (std::int64_t channel = 0; channel < to.channels; ++channel) {
          std::int64_t sum = 0;
          for (std::int64_t y = row * side; y < (row + 1) * side; ++y)
            for (std::int64_t x = column * side; x < (column + 1) * side; ++x)
              sum += picture[(y * from.columns + x) * from.channels + channel];
          pixel[channel] = static_cast<std::uint8_t>((2 * sum + area) / (2 * area));
        }
      }
  }
  images.values = std::move(pooled);
  images.shape = to;
}

std::string drawing(Shape shape, std::span<const std::uint8_t> values) {
  constexpr std::string_view kInk = " .:-=+*#%@";
  const auto columns = static_cast<std::size_t>(shape.columns), channels = static_cast<std::size_t>(shape.channels);
  std::string text;
  for (std::size_t i = 0; i < values.size() / channels; ++i) {
    const auto pixel = values.subspan(i * channels, channels);
    const auto sum = std::accumulate(pixel.begin(), pixel.end(), std::size_t{0});
    text.append(2, kInk[sum * kInk.size() / (channels * kValues)]);  // a character is about twice as high as wide
    if ((i + 1) % columns == 0) text += '\n';
  }
  return text;
}

}  // namespace ablate::image
