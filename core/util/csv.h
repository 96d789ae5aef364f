// Records of comma-separated text: RFC 4180, and what programs write in its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ablate {

inline constexpr std::size_t kMostCsvFields = 10'000;         ///< of a record
inline constexpr std::size_t kMostCsvFieldBytes = 1'000'000;  ///< of a field

struct CsvRecord {
  std::size_t line = 0;  ///< where it begins, from 1
  std::vector<std::string> fields;
};

/// Fields in double quotes may hold commas, line ends and doubled quotes; a line ends with \n, \r\n or \r; a byte order mark in
/// front and lines without a character do not count. All records have as many fields as the first.
/// Throws Error with the line for a quote that is not closed or stands inside a field, for what is no UTF-8, for a record of
/// another length, for more or longer fields than these limits, and if something else (semicolons, tabs) seems to part the
/// fields.
/// @param name of the file, for messages
std::vector<CsvRecord> read_csv(std::string_view text, const std::string& name);

}  // namespace ablate
