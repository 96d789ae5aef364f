// A file of cells with a header line, plain or gzipped: Berka's .asc files (semicolons, quoted texts, CRLF) and the CSVs made
// of them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::transactions {

class Table {
 public:
  /// Reads the whole file and its header, whose cells are parted by semicolons where it has one, else by commas. Throws
  /// std::runtime_error: not a regular file, unreadable, larger than 1 GiB, a damaged gzip stream, no header.
  explicit Table(std::filesystem::path path);
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  bool has(std::string_view name) const;
  /// The place of a column; throws std::runtime_error with what the header has instead.
  std::size_t column(std::string_view name) const;

  /// The next line that is not empty; false at the end. Throws std::runtime_error where it has not the header's number of
  /// cells.
  bool next();

  /// Of the line: without quotes and the spaces at both ends. Valid as long as the table.
  std::string_view text(std::size_t column) const { return cells_[column]; }
  /// A whole number, in [0, 2^53], in decimal digits. Throws std::runtime_error.
  std::int64_t whole(std::size_t column) const;
  /// A number of money, finite and not negative. Throws std::runtime_error.
  double amount(std::size_t column) const;

  /// Throws std::runtime_error: "FILE:LINE: NAME: found ..., expected ...".
  [[noreturn]] void refuse(std::size_t column, const std::string& expected) const;
  /// Throws std::runtime_error: "FILE:LINE: what".
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  void split(std::string_view line);

  std::filesystem::path path_;
  std::vector<std::uint8_t> content_;
  std::string_view text_;  ///< content_
  std::size_t at_ = 0, line_ = 0;
  char separator_ = ',';
  std::vector<std::string> names_;
  std::vector<std::string_view> cells_;
};

}  // namespace ablate::transactions
