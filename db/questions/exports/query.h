// Any question in SQL, and nothing but questions.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "db/report/printers.h"

namespace ablate::db {

/// Whether somebody still takes what is written. It may be asked while a statement runs, in its thread.
using Heard = std::function<bool()>;

/// Runs one SELECT over the views of db/history/views.h and the tables beneath, and writes its rows; what `write` throws ends
/// it. The database is opened read-only and an authorizer refuses everything but reading, so no SQL can change the file, make
/// another or load code. Ctrl-C ends it. Throws Error: SQL that is wrong (with the nearest name of a column or view), that does
/// more than read, has parameters, or is more than one statement; an answer that takes too much memory (formats of aligned
/// columns hold all rows; SQLite those that it sorts); interrupted (ExitCode::kInterrupted). Throws std::system_error (EPIPE)
/// where nobody hears.
void run_query(const std::filesystem::path& file, const std::string& sql, Format format, const Write& write,
               const Heard& heard = {});

/// The views with their columns, for who is about to ask. Markdown and CSV have a row a column; JSON an object a view, {"view",
/// "about", "columns"}.
std::string list_views(const std::filesystem::path& file, Format format = Format::kText);

}  // namespace ablate::db
