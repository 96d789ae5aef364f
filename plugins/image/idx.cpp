#include "idx.h"

#include <array>
#include <cstdio>

#include "ablate/input_file.h"

namespace ablate::image {
namespace {

constexpr std::uint32_t kImageMagic = 0x0803;  // unsigned bytes, 3 dimensions
constexpr std::uint32_t kLabelMagic = 0x0801;  // unsigned bytes, 1 dimension
constexpr std::uint32_t kMostSide = 4096;      // pixels; a larger side means a damaged header

std::uint32_t read_number(InputFile& file) {
  std::array<std::uint8_t, 4> bytes{};
  file.read_all(bytes, "the idx header");
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

void check_magic(InputFile& file, std::uint32_t expected, const char* what) {
  const auto found = read_number(file);
  if (found == expected) return;
  char text[160];
  std::snprintf(text, sizeof text, "begins with the magic number 0x%08x, expected 0x%08x (idx file of %s)", found, expected,
                what);
  throw FileError(file.path(), text);
}

struct ImageHeader {
  std::uint32_t count;
  Shape shape;
};

ImageHeader read_image_header(InputFile& file) {
  check_magic(file, kImageMagic, "images: unsigned bytes in 3 dimensions");
  const auto count = read_number(file), rows = read_number(file), columns = read_number(file);
  if (count == 0 || rows == 0 || columns == 0 || rows > kMostSide || columns > kMostSide)
    throw FileError(file.path(), "its header says " + std::to_string(count) + " images of " + std::to_string(rows) + " x " +
                                     std::to_string(columns) + " pixels, expected at least one, of sides from 1 to " +
                                     std::to_string(kMostSide));
  return {count, {.rows = rows, .columns = columns}};
}

}  // namespace

Shape read_idx_shape(const std::filesystem::path& images) {
  InputFile file(images);
  return read_image_header(file).shape;
}

std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& labels) {
  InputFile file(labels);
  check_magic(file, kLabelMagic, "labels: unsigned bytes in 1 dimension");
  const auto count = read_number(file);
  return file.read_rest(count, std::to_string(count) + " labels and the header");
}

Images read_idx(const std::filesystem::path& images, const std::filesystem::path& labels) {
  InputFile file(images);
  const auto header = read_image_header(file);
  Images result{header.shape, {}, read_idx_labels(labels)};
  if (result.labels.size() != header.count)
    throw FileError(images, "holds " + std::to_string(header.count) + " images, but " + labels.string() + " holds " +
                                std::to_string(result.labels.size()) + " labels; expected equal numbers");
  const auto bytes = std::uint64_t{header.count} * static_cast<std::uint64_t>(header.shape.values());
  result.values = file.read_rest(bytes, std::to_string(header.count) + " images of " + std::to_string(header.shape.rows) +
                                            " x " + std::to_string(header.shape.columns) + " and the header");
  return result;
}

}  // namespace ablate::image
