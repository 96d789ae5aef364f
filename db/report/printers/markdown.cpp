#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"

namespace ablate::db {
namespace {

std::string markdown_table(const Table& table) {
  return readable_table(table, render_markdown, {"**", "**", "<u>", "</u>", "~"}, {kEmphasised, "- note: "});
}

std::unique_ptr<RowPrinter> markdown_rows(const Write& write) {
  return std::make_unique<CollectedRows>(render_markdown, write);
}

}  // namespace

const Printer printers::markdown{markdown_table, markdown_rows};

}  // namespace ablate::db
