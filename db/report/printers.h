// Formats of tables and rows. A new format needs a line here and the file that the line names, db/report/printers/FILE.cpp.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// For each format: enumerator, file, the word after --format, one line of help.
// clang-format off
#define ABLATE_FORMATS(format)                                 \
  format(kText, text, "text", "aligned columns")               \
  format(kMarkdown, markdown, "markdown", "a pipe table")      \
  format(kCsv, csv, "csv", "a line for each cell")             \
  format(kJson, json, "json", "all that is known")             \
  format(kLatex, latex, "latex", "a tabular, with booktabs")   \
  format(kTypst, typst, "typst", "a table of Typst")           \
  format(kHtml, html, "html", "a table for a page")
// clang-format on

enum class Format {
#define ABLATE_FORMAT(format, ...) format,
  ABLATE_FORMATS(ABLATE_FORMAT)
#undef ABLATE_FORMAT
};

/// Receives the next piece of the output.
using Write = std::function<void(std::string_view)>;

/// Writes rows one by one, or all at the end if the format aligns columns.
class RowPrinter {
 public:
  virtual ~RowPrinter() = default;
  virtual void begin(const std::vector<std::string>& names) = 0;
  /// @param fields as many as names: null, numbers or texts
  virtual void put(const std::vector<nlohmann::json>& fields) = 0;
  virtual void end() = 0;
  /// True if people read the format: numbers are rounded, and a missing number is "-" with a reason.
  virtual bool for_people() const { return false; }
};

struct Printer {
  std::string (*table)(const Table& table);
  /// @param write must outlive the printer
  std::unique_ptr<RowPrinter> (*rows)(const Write& write);
};

/// Printer of each format, in its own file.
namespace printers {
#define ABLATE_FORMAT(format, file, ...) extern const Printer file;
ABLATE_FORMATS(ABLATE_FORMAT)
#undef ABLATE_FORMAT
}  // namespace printers

/// Throws Error for a value that is not a Format.
const Printer& printer_of(Format format);

/// Returns the words after --format, in the list's order.
const std::vector<std::string>& format_names();
/// Returns "text (aligned columns), markdown (a pipe table), ...".
std::string formats_help();
/// Throws Error with the nearest name for an unknown name.
Format format_from_name(const std::string& name);

std::string to_text(const Table& table, Format format);

}  // namespace ablate::db
