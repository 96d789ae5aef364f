// Pictures in the published form of Pathfinder.
#pragma once

#include <png.h>

#include "tests/plugins/task.h"

namespace ablate::tests {

inline void write_png(const fs::path& path, std::uint32_t side, const Bytes& pixels, std::uint32_t format = PNG_FORMAT_GRAY) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = side;
  image.format = format;
  REQUIRE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr) != 0);
}

struct PicturesFolder {
  TemporaryFolder folder;
  std::vector<Bytes> pictures = random_pictures(24, 1024, 5);  ///< in the order of the metadata; every third is connected

  /// Writes lra_release/pathfinder32/curv_contour_length_14: 12 folders in imgs with two pictures each, and the metadata.
  PicturesFolder() {
    fs::create_directories(root() / "metadata");
    for (std::size_t i = 0; i < 12; ++i) {
      fs::create_directories(root() / "imgs" / std::to_string(i));
      std::string lines;
      for (std::size_t k = 0; k < 2; ++k) {
        lines += line(i, k, (2 * i + k) % 3 == 0 ? "1" : "0");
        write_png(picture(i, k), 32, pictures[2 * i + k]);
      }
      write_text(metadata(i), lines);
    }
  }
  static std::string line(std::size_t i, std::size_t k, const std::string& label) {
    const auto number = std::to_string(k);
    return "imgs/" + std::to_string(i) + " sample_" + number + ".png " + number + " " + label + " 1.0 14 4 2 0.5 1 1\n";
  }
  fs::path root() const { return folder.path() / "lra_release/pathfinder32/curv_contour_length_14"; }
  fs::path picture(std::size_t i, std::size_t k) const {
    return root() / "imgs" / std::to_string(i) / ("sample_" + std::to_string(k) + ".png");
  }
  fs::path metadata(std::size_t i) const { return root() / "metadata" / (std::to_string(i) + ".npy"); }
};

inline std::unique_ptr<Task> load_pictures(const fs::path& data, nlohmann::json changes = {}, int threads = 2) {
  for (const auto* part : {"dev", "test"})
    if (!changes.contains(part)) changes[part] = 4;
  changes["data"] = data.string();
  const TemporaryFolder cache;
  return load_task("pathfinder", changes, cache.path(), threads);
}

}  // namespace ablate::tests
