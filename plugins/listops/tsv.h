// The published form of ListOps: tab-separated, header "Source<TAB>Target", an expression and its answer per row.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "examples.h"

namespace ablate::listops {

/// The data set and its source, for the parameter's help and for errors.
inline constexpr const char* kExpected =
    "a folder of basic_train.tsv, basic_val.tsv and basic_test.tsv (the header Source, a tab, Target, then an expression, a "
    "tab and its answer in each row), plain or gzipped: the folder listops-1000 of "
    "https://storage.googleapis.com/long-range-arena/lra_release.gz, unpacked by tar xzf; or empty: generate";

/// Returns the files by split. Throws std::runtime_error with the places searched, or with the missing files.
/// @param data as in find_data (ablate/data_files.h): the folder of the files
std::vector<std::filesystem::path> find_files(const std::string& data);

/// Reads a file, plain or gzipped. Drops parentheses and evaluates every expression. Throws FileError with file, line, and the
/// found and the expected text, for: a missing file, a folder, another header, a row without exactly two columns, an unknown
/// symbol, an ill-formed expression, more than max_length symbols, a wrong answer. If several rows are faulty, the error names
/// the first.
Examples read_tsv(const std::filesystem::path& path, std::int64_t max_length, int threads);

}  // namespace ablate::listops
