// --out and --force: a command's answer in a file, whole or not at all, and never in the place of someone else's.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "db/report/printers.h"

namespace ablate {

/// Where an answer goes: to stdout, or where it is asked for to a file.
struct OutputFile {
  std::filesystem::path path;    ///< "": stdout
  bool force = false;            ///< whatever stands there
  std::string option = "--out";  ///< named by errors; "--force" goes with --out alone

  /// Prints the text, or writes it (without control characters) and says so on stderr. What a file at the path holds must be
  /// what ablate wrote there last: a hash of it is stored in cache_folder()/written, by the file's path. A link is followed.
  /// The file that stood there stays until the new one is written, to the last byte. Throws Error where the file holds anything
  /// else and there is no force, where it is no regular file, and where it cannot be written.
  void put(const std::string& text) const;

  /// The same of an answer that comes in pieces, each of whole lines, and is never held as a whole. What `pieces` throws leaves
  /// the file as it was.
  void put(const std::function<void(const db::Write& write)>& pieces) const;

  /// The same of bytes that are no text, as they are; to a file alone.
  void put_bytes(const std::function<void(const db::Write& write)>& pieces) const;
};

/// @param to outlives the command
CLI::Option* add_out(CLI::App* command, OutputFile& to);

/// Writes the rows of an answer in the requested format. @param rows_of returns names and rows; true: for people, false: for
/// programs
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
