#include "cifar.h"

#include <array>

#include "ablate/input_file.h"

namespace ablate::image {
namespace {

constexpr std::size_t kPlane = kCifarSide * kCifarSide;
constexpr std::size_t kRecord = 1 + 3 * kPlane;

/// In integers, so that no machine rounds a half another way.
std::uint8_t grey(unsigned red, unsigned green, unsigned blue) {
  return static_cast<std::uint8_t>((2989 * red + 5870 * green + 1140 * blue + 5000) / 10000);
}

void read_batch(const std::filesystem::path& path, Images& to) {
  InputFile file(path);
  std::array<std::uint8_t, kRecord> record{};
  const auto before = to.labels.size();
  while (const auto got = file.read(record)) {
    const auto number = std::to_string(to.labels.size() - before + 1);
    if (got < kRecord)
      throw FileError(path, "ends within record " + number + ": found " + std::to_string(got) + " of its " +
                                std::to_string(kRecord) + " bytes (a label, then 3 planes of 32 x 32)");
    if (record[0] >= kCifarClasses)
      throw FileError(path, "record " + number + " has the label " + std::to_string(record[0]) +
                                ", expected 0 to 9; is this CIFAR-10's binary version?");
    to.labels.push_back(record[0]);
    const auto *red = record.data() + 1, *green = red + kPlane, *blue = green + kPlane;
    for (std::size_t i = 0; i < kPlane; ++i)
      if (to.shape.channels == 3)
        to.values.insert(to.values.end(), {red[i], green[i], blue[i]});
      else
        to.values.push_back(grey(red[i], green[i], blue[i]));
  }
  if (to.labels.size() == before) throw FileError(path, "is empty, expected records of " + std::to_string(kRecord) + " bytes");
}

}  // namespace

Images read_cifar(std::span<const std::filesystem::path> batches, bool colour) {
  Images images{cifar_shape(colour), {}, {}};
  for (const auto& batch : batches) read_batch(batch, images);
  return images;
}

}  // namespace ablate::image
