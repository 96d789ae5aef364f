// Reads comma-separated text: RFC 4180, and common deviations from it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ablate {

inline constexpr std::size_t kMostCsvFields = 10'000;         ///< in a record
inline constexpr std::size_t kMostCsvFieldBytes = 1'000'000;  ///< in a field

struct CsvRecord {
  std::size_t line = 0;  ///< first line of the record, from 1
  std::vector<std::string> fields;
};

/// Parses CSV text. Fields in double quotes may contain commas, line ends and doubled quotes. A line ends with \n, \r\n or \r.
/// A byte order mark at the start and empty lines are skipped. All records have as many fields as the first. Throws Error with
/// the line if a quote is not closed or is inside a field, if text is not UTF-8, or if numbers of fields differ. Also throws
/// Error if a record or a field exceeds its limit above, or if semicolons or tabs seem to separate the fields.
/// @param name of the file, for messages
std::vector<CsvRecord> read_csv(std::string_view text, const std::string& name);

}  // namespace ablate
