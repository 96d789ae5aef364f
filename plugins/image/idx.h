// The idx format of MNIST and its successors (LeCun et al., "The MNIST database"): big-endian magic and sizes, then bytes.
#pragma once

#include "images.h"

namespace ablate::image {

/// Header only. Throws FileError: no such file, another magic, an empty shape.
Shape read_idx_shape(const std::filesystem::path& images);
/// Throws FileError: as above, cut off, too long, damaged.
std::vector<std::uint8_t> read_idx_labels(const std::filesystem::path& labels);
/// Throws FileError: as above, or numbers of images and labels that differ.
Images read_idx(const std::filesystem::path& images, const std::filesystem::path& labels);

}  // namespace ablate::image
