// The files of the Berka data: a folder of them, or the published archive.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ablate/input_file.h"

namespace ablate::transactions {

/// The data set and its source, for the parameter's help and for errors.
inline constexpr const char* kExpected =
    "data_berka.zip from https://sorry.vse.cz/~berka/challenge/pkdd1999/berka.htm, or a folder with it or with client.asc, "
    "disp.asc and trans.asc or trans_*.csv in it (a header, and cells separated by ; or ,), plain or gzipped";

/// Paths for lines_of(). The path of an archive's entry is the archive's path followed by the entry's name.
struct Folder {
  std::filesystem::path clients, dispositions;
  std::vector<std::filesystem::path> transactions;  ///< at least one, sorted by name

  /// The files to read; the archive if they are in an archive.
  std::vector<std::filesystem::path> all() const;
};

/// @param data as in find_data (ablate/data_files.h): an archive (.zip) with client.asc, disp.asc and trans.asc, or a folder. A
/// folder has these files (trans_*.csv may replace trans.asc, and each may end in .gz), or data_berka.zip.
/// Throws std::runtime_error if files are missing. The message lists the expected files.
Folder find_files(const std::string& data);

/// Opens a Folder's file to read its lines. Throws FileError if the file is missing or unreadable.
Lines lines_of(const std::filesystem::path& file);

}  // namespace ablate::transactions
