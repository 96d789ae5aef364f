// CIFAR-10's binary version (Krizhevsky 2009): records of a label and the red, green and blue planes of 32 x 32 bytes.
#pragma once

#include <array>
#include <span>

#include "images.h"

namespace ablate::image {

inline constexpr std::int64_t kCifarSide = 32;
inline constexpr int kCifarClasses = 10;
/// The batches of the data set. The last one is the test batch.
inline constexpr std::array<const char*, 6> kCifarBatches = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                                                             "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"};

inline constexpr Shape cifar_shape(Colours colours) { return {kCifarSide, kCifarSide, colours == Colours::kKept ? 3 : 1}; }

/// Reads the batches in order. In colour, the planes are interleaved per pixel. In grey, a pixel is 0.2989 R + 0.5870 G +
/// 0.1140 B, rounded (halves up). TensorFlow's grey is this sum, not rounded, times 255.5 / 255, truncated. TensorFlow's
/// rgb_to_grayscale computes this grey for bytes, and the Long Range Arena uses it. Throws FileError if a file is missing,
/// empty or cut off within a record, if a label is above 9, or if a gzip stream is damaged.
Images read_cifar(std::span<const std::filesystem::path> batches, Colours colours);

/// Reads the published archive in the same way. Returns the training and test images. Throws FileError if a batch is missing.
std::array<Images, 2> read_cifar_archive(const std::filesystem::path& archive, Colours colours);

}  // namespace ablate::image
