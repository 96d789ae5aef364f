#include "db/report/layout.h"
#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"

namespace ablate::db {
namespace {

std::string markdown_table(const Table& table) {
  const auto layout = lay_out(table);
  auto text = one_row(layout.caption) + (layout.any_best ? "; best in bold" : "") + "\n";
  for (const auto& block : layout.blocks) {
    if (!block.title.empty()) text += "\n" + one_row(block.title) + "\n";
    text += "\n" + render_markdown(plain_rows(block, {"**", "**", "~"}));
  }
  if (!layout.notes.empty()) text += "\n";
  for (const auto& note : layout.notes) text += "- note: " + one_row(note) + "\n";
  return text;
}

std::unique_ptr<RowPrinter> markdown_rows(const Write& write) {
  return std::make_unique<CollectedRows>(render_markdown, write);
}

}  // namespace

const Printer printers::markdown{markdown_table, markdown_rows};

}  // namespace ablate::db
