#include "db/report/layout.h"
#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"

namespace ablate::db {
namespace {

/// Escapes Typst's markup and makes the text one row.
std::string typst_escaped(std::string_view text) {
  std::string safe;
  for (const char c : one_row(text)) {
    constexpr std::string_view kMarkup = "\\#$*_`<>@[]~=-+/\"'";
    if (kMarkup.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// Writes "-" as a minus sign, because Typst prints "-" as a hyphen.
std::string typst_signs(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\-", at)) != std::string::npos; at += 3) text.replace(at, 2, "−");
  return text;
}

std::string typst_field(const Field& field) {
  auto safe = field;
  safe.text = field.role == FieldRole::kNumber ? typst_signs(typst_escaped(field.text)) : typst_escaped(field.text);
  safe.failures = typst_escaped(field.failures), safe.mark = typst_escaped(field.mark),
  safe.significance = typst_signs(typst_escaped(field.significance));
  return plain(safe, {"#strong[", "]", "#underline[", "]", "\\~"});
}

std::string typst_line(const std::vector<std::string>& fields) {
  std::string line = "  ";
  for (const auto& field : fields) line += "[" + field + "], ";
  line.back() = '\n';
  return line;
}

/// @param block header first; its fields are already escaped
std::string typst_lines(const MarkedRows& block) {
  auto text = "#table(\n  columns: " + std::to_string(block.rows.front().size()) + ", stroke: none, align: (" + block.columns +
              "),\n  table.hline(),\n";
  for (std::size_t i = 0; i < block.rows.size(); ++i) {
    auto line = typst_line(block.rows[i]);
    if (!block.trials.empty()) line.insert(line.size() - 1, " // ablate: " + block.trials[i]);
    text += line + (i == 0 ? "  table.hline(),\n" : "");
  }
  return text + "  table.hline(),\n)\n";
}

/// Writes ablate's caption and notes as comments, because they name commands. An author's caption makes the table a figure.
std::string typst_table(const Table& table) {
  const auto layout = lay_out(table);
  auto text = "// " + one_row(layout.caption) + (layout.any_best ? kEmphasised : "") + "\n";
  const auto request = request_text(table);
  if (!request.empty()) text += "/// ablate " + request + "\n";
  if (layout.own_caption) text += "#figure(caption: [" + typst_escaped(layout.caption) + "])[\n";
  for (const auto& block : layout.blocks) {
    if (!block.title.empty())
      text += layout.own_caption ? "\n" + typst_escaped(block.title) + "\n" : "\n// " + one_row(block.title) + "\n";
    text += typst_lines(marked_rows(table, block, typst_escaped, typst_field, "right, ", "left, "));
  }
  if (layout.own_caption) text += layout.label.empty() ? "]\n" : "] <" + layout.label + ">\n";
  for (const auto& note : layout.notes) text += "// note: " + one_row(note) + "\n";
  return text;
}

std::string typst_rows_of(const Rows& rows) {
  MarkedRows safe{"", rows, {}};
  for (std::size_t i = 0; i < rows.front().size(); ++i) safe.columns += "left, ";
  for (auto& row : safe.rows)
    for (auto& field : row) field = typst_escaped(field);
  return typst_lines(safe);
}

std::unique_ptr<RowPrinter> typst_rows(const Write& write) { return std::make_unique<CollectedRows>(typst_rows_of, write); }

}  // namespace

const Printer printers::typst{typst_table, typst_rows};

}  // namespace ablate::db
