// Finding a data set's files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ablate::image {

enum class Format { kIdx, kCifar };

struct Folder {
  Format format;
  /// idx: images, labels. CIFAR: the batches.
  std::vector<std::filesystem::path> train, test;
};

/// @param data a folder, or the name fashion-mnist or cifar10, which stands for $ABLATE_DATA/NAME or
/// /usr/share/datasets/NAME, the first of them that is there. Each file may be plain or end in .gz. Throws std::runtime_error
/// with everything that was looked for and what to do.
Folder find_files(const std::string& data);

}  // namespace ablate::image
