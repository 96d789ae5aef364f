// Finds the files of a data set.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "images.h"

namespace ablate::image {

/// Data sets and their sources, for the parameter's help and for errors.
inline constexpr const char* kExpected =
    "fashion-mnist: the idx files of https://github.com/zalandoresearch/fashion-mnist, as Debian's dataset-fashion-mnist has "
    "them; cifar10: cifar-10-binary.tar.gz from https://www.cs.toronto.edu/~kriz/cifar.html, or the .bin files of it; "
    "imagenet64 (only for objective = density): Imagenet64_{train_part1,train_part2,val}_npz.zip from https://image-net.org "
    "(its downsampled images, by an account), or the .npz files of them; or another folder of one of them, or that archive or "
    "one batch (.bin, .npz); idx and .bin plain or gzipped";

enum class Format { kIdx, kCifar, kCifarArchive, kNpz };

struct Folder {
  Format format;
  /// idx: images, labels. CIFAR and ImageNet (npz): the batches; for npz also archives of batches. There are no test files if
  /// the data are a single batch or CIFAR's archive.
  std::vector<std::filesystem::path> train, test;
};

/// Finds the files, plain or ending in .gz (npz only plain). Throws std::runtime_error if files are missing or
/// unfit for `colours`. The message names the expected files and the remedy.
/// @param data as in find_data (ablate/data_files.h): a folder, CIFAR-10's archive, or a single batch (.bin, .npz)
/// @param colours kKept prefers CIFAR-10's batches if a folder has both forms; kGrey prefers the idx files. With kKept, a
/// folder that is named cifar10 or has one of the batches must have all of them. TensorFlow's grey needs the batches in any
/// folder. ImageNet needs kKept.
Folder find_files(const std::string& data, Colours colours);

}  // namespace ablate::image
