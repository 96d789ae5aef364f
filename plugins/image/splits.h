#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "images.h"

namespace ablate::image {

/// An example: its place among the pictures of the train files, or of the test files where there are some.
using Places = std::vector<std::uint32_t>;

struct Splits {
  Images train_files, test_files;
  std::array<Places, 3> places;  ///< train, dev, test; train and dev are places in train_files

  const Images& files(std::size_t split) const { return split == 2 && test_files.size() > 0 ? test_files : train_files; }
};

/// Shuffles the pictures of the train files by the seed; the last `dev` become the dev split. The test split is the test files
/// in their order, or as many again where there are none. @param dev leaves a train picture.
void split(Splits& splits, std::int64_t dev, std::uint64_t seed);

/// SHA-256, in hex, of shape, pictures, labels and places: of all that the splits hold, in their order.
std::string digest(const Splits& splits);

}  // namespace ablate::image
