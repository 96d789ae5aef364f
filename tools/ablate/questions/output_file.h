// --out and --force: writes a command's answer to a file completely or not at all. Only --force replaces other programs' files.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "db/report/printers.h"

namespace ablate {

/// Destination of an answer: stdout, or a file on request.
struct OutputFile {
  std::filesystem::path path;    ///< "": stdout
  bool force = false;            ///< replaces any file
  std::string option = "--out";  ///< option that error messages name; "--force" exists only beside --out

  /// Prints the text, or writes it without control characters and reports the file on stderr. An existing file must be ablate's
  /// last output to that path: its hash is stored in cache_folder()/written, by path. A link is followed. The old file stays
  /// until the new file is complete. Throws Error without `force` if the file has other content. Always throws Error for a
  /// SQLite database, for a file that is not regular, and for a failed write.
  void put(const std::string& text) const;

  /// Does the same for an answer in pieces of whole lines. The answer is never stored as a whole. If `pieces` throws, the file
  /// stays unchanged.
  void put(const std::function<void(const db::Write& write)>& pieces) const;

  /// Does the same for bytes that are not text: writes them unchanged, and only to a file.
  void put_bytes(const std::function<void(const db::Write& write)>& pieces) const;
};

/// @param to must outlive the command
CLI::Option* add_out(CLI::App* command, OutputFile& to);

/// Writes the rows of an answer in the requested format.
/// @param rows_of returns names and rows; its argument is true for people, false for programs
template <class RowsOf>
void put_rows(db::Format format, const OutputFile& out, RowsOf&& rows_of) {
  out.put([&](const db::Write& write) {
    const auto printer = db::printer_of(format).rows(write);
    const auto answer = rows_of(printer->for_people());
    printer->begin(answer.names);
    for (const auto& row : answer.rows) printer->put(row);
    printer->end();
  });
}

}  // namespace ablate
