// Rows of an answer in the format that was asked for, to stdout or into a file.
#pragma once

#include <cstdio>

#include "db/report/printers.h"
#include "tools/ablate/questions/output_file.h"

namespace ablate {

/// @param rows_of gives names and rows, whether for people or for programs
template <class RowsOf>
void put_rows(db::Format format, const OutputFile& out, RowsOf&& rows_of) {
  out.put([&](const db::Write& write) {
    const auto printer = db::printer_of(format).rows(write);
    const auto answer = rows_of(printer->for_people());
    printer->begin(answer.names);
    for (const auto& row : answer.rows) printer->put(row);
    printer->end();
  });
  std::fflush(stdout);  // the answer stands above its notes
}

}  // namespace ablate
