// The idx format of MNIST and its successors (LeCun et al., "The MNIST database"): big-endian magic and sizes, then bytes.
#pragma once

#include "images.h"

namespace ablate::image {

/// Reads only the header. Throws FileError if the file is missing, or has a wrong magic number, no image, or wrong sides.
Shape read_idx_shape(const std::filesystem::path& images);
/// Throws FileError if the file is missing, cut off, too long or damaged, or has a wrong magic number.
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& labels);
/// Throws FileError for a missing, cut off, too long or damaged file, a wrong header, or unequal numbers of images and labels.
Images read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

}  // namespace ablate::image
