// SQL queries on a history, read-only.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "db/report/printers.h"

namespace ablate::db {

/// True if somebody still reads the output. May be called during a statement, on the statement's thread.
using IsRead = std::function<bool()>;

/// Runs one SELECT over the views of db/history/views.h and their tables, and writes its rows. The database is read-only and an
/// authorizer refuses everything except reading, so no SQL can change a file, create a file or load code. Ctrl-C ends the query
/// (ExitCode::kInterrupted). Throws Error if the SQL is wrong (with the nearest name of a column or view), does more than read,
/// has parameters, or is several statements. Also throws Error if the answer needs too much memory: SQLite stores the rows that
/// it sorts, and formats with aligned columns store all rows. Throws std::system_error (EPIPE) if the output is closed, and
/// passes exceptions of `write` on.
void run_query(const std::filesystem::path& file, const std::string& sql, Format format, const Write& write,
               const IsRead& is_read = {});

/// Lists the views with their columns. Markdown and CSV have one row per column. JSON has one object per view, {"view",
/// "about", "columns"}.
std::string list_views(const std::filesystem::path& file, Format format = Format::kText);

}  // namespace ablate::db
