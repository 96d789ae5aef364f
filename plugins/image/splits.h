#pragma once

#include <array>
#include <string>

#include "ablate/random.h"
#include "folder.h"
#include "images.h"

namespace ablate::image {

struct Splits {
  Images train_files, test_files;
  /// Train, dev, test: places among the pictures of the train files, or of the test files where there are some.
  std::array<Places, 3> places;

  const Images& files(std::size_t split) const { return split == 2 && test_files.size() > 0 ? test_files : train_files; }
};

/// 0 to one less are the labels. Throws FileError where one of these does not occur, or there are not two of them.
int classes_of(const std::vector<std::uint8_t>& labels, const std::filesystem::path& file);

/// The pictures of a data set, pooled, without places. Throws FileError and std::runtime_error: what the readers throw;
/// pictures of two sizes; unless colours are kept, training labels with a gap or all alike, a test label that is none of them.
/// std::invalid_argument: a pool that does not divide the sides.
Splits read_files(const Folder& files, Colours colours, std::int64_t pool, int threads);

enum class Dev { kDrawn, kLast };

/// Deals the pictures of the train files: drawn by the seed, in an order of its own; or as the files have them, the last `dev`
/// to dev, before those of test where that is of the same files. The test split is the test files in their order, or as many
/// again where there are none. Throws std::invalid_argument where nothing is left to train.
void split(Splits& splits, std::int64_t dev, Dev which, std::uint64_t seed);

/// Of shape, pictures, labels and places: of all that the splits hold, in their order.
std::string digest(const Splits& splits);

}  // namespace ablate::image
