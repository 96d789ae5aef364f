#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"

namespace ablate::db {
namespace {

std::string text_table(const Table& table) { return readable_table(table, render_text, {"", "", "", "", "~"}, {"", "note: "}); }

std::unique_ptr<RowPrinter> text_rows(const Write& write) { return std::make_unique<CollectedRows>(render_text, write); }

}  // namespace

const Printer printers::text{text_table, text_rows};

}  // namespace ablate::db
