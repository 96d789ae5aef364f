#pragma once

#include <array>
#include <string>

#include "ablate/random.h"
#include "folder.h"
#include "images.h"

namespace ablate::image {

struct Splits {
  Images train_files, test_files;
  /// Train, dev, test: indices of pictures in the training files; for test, in the test files if there are any.
  std::array<Places, 3> places;

  const Images& files(std::size_t split) const { return split == 2 && test_files.size() > 0 ? test_files : train_files; }
};

/// Returns the number of classes. Throws FileError for fewer than two, or if a label from 0 to the greatest does not occur.
int classes_of(const std::vector<std::uint8_t>& labels, const std::filesystem::path& file);

/// Reads a data set's pictures and pools them; `places` stays empty. Throws std::runtime_error if a file is missing or
/// damaged, or if pictures differ in size. Without kKept, also throws if training labels have a gap or are all alike, or if
/// a test label is not a training label. Throws std::invalid_argument if `pool` does not divide the sides.
Splits read_files(const Folder& files, Colours colours, std::int64_t pool, int threads);

enum class Dev { kDrawn, kLast };

/// Divides the pictures among the splits. kDrawn draws and shuffles pictures of the training files by the seed. kLast keeps the
/// order of the training files: train, dev and, without test files, test. The test split is the test files in order or,
/// without test files, `dev` more training pictures. Throws std::invalid_argument if no picture is left for training.
void split(Splits& splits, std::int64_t dev, Dev which, std::uint64_t seed);

/// Digest of shape, pictures, labels and places, in order.
std::string digest(const Splits& splits);

}  // namespace ablate::image
