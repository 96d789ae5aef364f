#include "png.h"

#include <png.h>

#include <memory>

#include "ablate/input_file.h"

namespace ablate::pathfinder {

std::vector<std::uint8_t> read_png(const std::filesystem::path& path, std::int64_t side) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 24;  // bytes; no picture of the data set is larger
  const auto content = InputFile(path).read_some(kMost);
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  const std::unique_ptr<png_image, void (*)(png_image*)> ended(&image, png_image_free);
  const auto refuse = [&] {
    throw FileError(path, std::string("is no whole PNG file (") + image.message + "); unpack the archive again");
  };
  if (png_image_begin_read_from_memory(&image, content.data(), content.size()) == 0) refuse();
  constexpr std::size_t kBitDepth = 24;  // offset in the file, whose first chunk is the header
  if (image.format != PNG_FORMAT_GRAY || content[kBitDepth] != 8)
    throw FileError(path, "found a picture that is in colour, transparent or not of eight bits, expected eight bits of grey");
  if (image.width != side || image.height != side)
    throw FileError(path, "found a picture of " + std::to_string(image.width) + " x " + std::to_string(image.height) +
                              " pixels, expected size = " + std::to_string(side));
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr) == 0) refuse();
  return pixels;
}

}  // namespace ablate::pathfinder
