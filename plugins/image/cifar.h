// CIFAR-10's binary version (Krizhevsky 2009): records of a label and the red, green and blue planes of 32 x 32 bytes.
#pragma once

#include <span>

#include "images.h"

namespace ablate::image {

inline constexpr std::int64_t kCifarSide = 32;
inline constexpr int kCifarClasses = 10;

inline constexpr Shape cifar_shape(bool colour) { return {kCifarSide, kCifarSide, colour ? 3 : 1}; }

/// Reads the batches one after the other, in colour with the planes interleaved pixel by pixel, or to grey as the Long Range
/// Arena has it: 0.2989 R + 0.5870 G + 0.1140 B, rounded, halves up. Throws FileError: no such file, cut off within a record,
/// no record, a label above 9, a damaged gzip stream.
Images read_cifar(std::span<const std::filesystem::path> batches, bool colour);

}  // namespace ablate::image
