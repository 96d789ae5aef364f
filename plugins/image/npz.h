// ImageNet at 64 x 64 as image-net.org publishes it (Chrabaszcz et al. 2017): batches of pictures as npz files, and archives of
// npz files. An npz file is a zip archive of numpy arrays.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "images.h"

namespace ablate::image {

inline constexpr Shape kImageNetShape = {64, 64, 3};
/// Names of the archives without .zip: two for training, one for testing.
inline constexpr std::array<const char*, 3> kImageNetParts = {"Imagenet64_train_part1_npz", "Imagenet64_train_part2_npz",
                                                              "Imagenet64_val_npz"};

/// The names of a part's batches, in order.
std::vector<std::string> batches_of_part(const std::string& part);

/// Reads the pictures of `data`, [pictures, 3 x 64 x 64] bytes in red, green and blue planes, and interleaves the planes per
/// pixel. Labels are not read: all are 0. Throws FileError if a file is missing, damaged or cut off, lacks `data` or a batch,
/// has an array of another type or shape, or has bytes after the array.
/// @param files npz files, or archives of a part, under the published names
Images read_npz(std::span<const std::filesystem::path> files, int threads);

}  // namespace ablate::image
