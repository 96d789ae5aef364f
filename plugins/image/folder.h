// Finding a data set's files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace ablate::image {

enum class Format { kIdx, kCifar };

struct Folder {
  Format format;
  /// idx: images, labels. CIFAR: the batches; no test files where one batch is all.
  std::vector<std::filesystem::path> train, test;
};

/// @param data as find_data (ablate/data_files.h) has it: a folder, or one of CIFAR-10's batches alone (.bin), which is all
/// there is then. Each file may be plain or end in .gz. Throws std::runtime_error with everything that was looked for and what
/// to do.
Folder find_files(const std::string& data);

}  // namespace ablate::image
