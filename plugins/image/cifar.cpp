#include "cifar.h"

#include <algorithm>

#include "ablate/archive.h"
#include "ablate/input_file.h"

namespace ablate::image {
namespace {

constexpr std::size_t kPlane = kCifarSide * kCifarSide;
constexpr std::size_t kRecord = 1 + 3 * kPlane;

/// Uses integers, so that the result does not depend on a machine's rounding.
std::uint8_t grey(unsigned red, unsigned green, unsigned blue, Colours colours) {
  const auto sum = 2989 * red + 5870 * green + 1140 * blue;
  return static_cast<std::uint8_t>(colours == Colours::kTensorflowGrey ? sum * 511 / 5100000 : (sum + 5000) / 10000);
}

/// @param source an InputFile, or an Archive positioned at the batch
template <class Source>
void read_batch(Source& source, const std::filesystem::path& name, Colours colours, Images& to) {
  std::array<std::uint8_t, kRecord> record{};
  const auto before = to.labels.size();
  while (const auto got = source.read(record)) {
    const auto number = std::to_string(to.labels.size() - before + 1);
    if (got < kRecord)
      throw FileError(name, "ends within record " + number + ": found " + std::to_string(got) + " of its " +
                                std::to_string(kRecord) + " bytes (a label, then 3 planes of 32 x 32)");
    if (record[0] >= kCifarClasses)
      throw FileError(name, "record " + number + " has the label " + std::to_string(record[0]) +
                                ", expected 0 to 9; is this CIFAR-10's binary version?");
    to.labels.push_back(record[0]);
    const auto *red = record.data() + 1, *green = red + kPlane, *blue = green + kPlane;
    for (std::size_t i = 0; i < kPlane; ++i)
      if (colours == Colours::kKept)
        to.values.insert(to.values.end(), {red[i], green[i], blue[i]});
      else
        to.values.push_back(grey(red[i], green[i], blue[i], colours));
  }
  if (to.labels.size() == before) throw FileError(name, "is empty, expected records of " + std::to_string(kRecord) + " bytes");
}

}  // namespace

Images read_cifar(std::span<const std::filesystem::path> batches, Colours colours) {
  Images images{cifar_shape(colours), {}, {}};
  for (const auto& batch : batches) {
    InputFile file(batch);
    read_batch(file, batch, colours, images);
  }
  return images;
}

std::array<Images, 2> read_cifar_archive(const std::filesystem::path& archive, Colours colours) {
  std::array<Images, kCifarBatches.size()> batches;  // in the order of kCifarBatches, not of the archive
  Archive tar(archive, Packing::kTar);
  while (const auto entry = tar.next())
    if (const auto batch = std::ranges::find(kCifarBatches, entry->filename().string()) - kCifarBatches.begin();
        batch < std::ssize(batches)) {
      auto& images = batches[static_cast<std::size_t>(batch)];
      if (images.size() > 0)
        throw FileError(archive,
                        std::string("holds ") + kCifarBatches[static_cast<std::size_t>(batch)] + " twice, expected it once");
      images = {cifar_shape(colours), {}, {}};
      read_batch(tar, archive / *entry, colours, images);
    }
  std::array<Images, 2> all{Images{cifar_shape(colours), {}, {}}, Images{cifar_shape(colours), {}, {}}};
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (batches[i].size() == 0)
      throw FileError(archive, std::string("lacks ") + kCifarBatches[i] + ", expected all batches of CIFAR-10: fetch it again");
    auto& to = all[i + 1 < batches.size() ? 0 : 1];
    to.values.insert(to.values.end(), batches[i].values.begin(), batches[i].values.end());
    to.labels.insert(to.labels.end(), batches[i].labels.begin(), batches[i].labels.end());
  }
  return all;
}

}  // namespace ablate::image
