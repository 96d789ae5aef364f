// The published pictures. The folder of a difficulty has metadata/*.npy, which are text files, and imgs/. Each line is one
// picture, in fields separated by blanks: its folder, its file, a number, its label, and the parameters of its drawing.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pictures.h"

namespace ablate::pathfinder {

/// The data set and its source, for the parameter's help and for errors.
inline constexpr const char* kExpected =
    "a folder such as pathfinder32/curv_contour_length_14, with metadata (.npy files, which are lines of text: folder, file, "
    "number, label, ...) and imgs (PNG files) in it, or a parent of that folder. Download "
    "https://storage.googleapis.com/long-range-arena/lra_release.gz and unpack it with tar xzf. If the value is empty, "
    "pictures are generated";

struct Folder {
  std::vector<std::filesystem::path> metadata;  ///< 0.npy, 1.npy, ...
  struct Row {
    std::filesystem::path picture;
    bool connected;
    std::size_t file, line;  ///< index in `metadata`, and line number from 1
  };
  std::vector<Row> rows;  ///< rows of all metadata files
};

/// @param data as in find_data (ablate/data_files.h): the folder of one difficulty, or a parent (pathfinder32, lra_release).
/// Throws std::runtime_error with all places searched and advice, std::invalid_argument if the folder is of another contour.
std::filesystem::path find_folder(const std::string& data, std::int64_t side, std::int64_t contour);

/// Reads the metadata. Skips the picture that is empty as published (curv_baseline/imgs/0/sample_172.png). Throws FileError
/// with file and line for: too few words, a label that is not 0 or 1, a path outside the folder, a picture that is missing or
/// named twice. Throws FileError with a path if there is no metadata, or if imgs has a picture that no line names.
Folder read_folder(const std::filesystem::path& folder);

/// Throws FileError, with the file and line that name the picture, if read_png() throws.
Pictures read_pictures(const Folder& folder, std::int64_t side, int threads);

}  // namespace ablate::pathfinder
