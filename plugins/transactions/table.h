// A file of cells with a header line: Berka's .asc files (semicolons, quoted texts, CRLF) and the CSVs made from them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ablate/input_file.h"

namespace ablate::transactions {

class Table {
 public:
  /// Reads the header. Cells of all lines are separated by semicolons if the header contains one, otherwise by commas. Throws
  /// FileError if the header is missing or the file is unreadable.
  /// @param file a path for lines_of() (folder.h)
  explicit Table(const std::filesystem::path& file);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  bool has(std::string_view name) const;
  /// Returns the index of a column. If the column is missing, throws FileError with the columns of the header.
  std::size_t column(std::string_view name) const;

  /// Reads the next line that is not empty, or returns false at the end. Throws FileError unless the line has as many cells as
  /// the header.
  bool next();

  /// Returns a cell of the current line. Quotes and surrounding spaces are removed. Valid until next().
  std::string_view text(std::size_t column) const { return cells_[column]; }
  /// Returns a decimal integer in [0, 2^53]. Throws FileError if the cell has anything else.
  std::int64_t whole(std::size_t column) const;
  /// Returns an amount of money, finite and not negative. Throws FileError if the cell has anything else.
  double amount(std::size_t column) const;

  /// Throws FileError: "FILE:LINE: NAME: found ..., expected ...".
  [[noreturn]] void refuse(std::size_t column, const std::string& expected) const;

 private:
  void split(std::string_view line);

  std::filesystem::path path_;
  Lines lines_;
  char separator_ = ',';
  std::vector<std::string> names_;
  std::vector<std::string_view> cells_;
};

}  // namespace ablate::transactions
