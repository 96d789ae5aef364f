#include "db/report/layout.h"
#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"
#include "db/report/provenance.h"

namespace ablate::db {
namespace {

/// Escapes what Typst would read as markup, and makes the text one row.
std::string typst_escaped(std::string_view text) {
  std::string safe;
  for (const char c : one_row(text)) {
    constexpr std::string_view kMarkup = "\\#$*_`<>@[]~=-+/\"'";
    if (kMarkup.find(c) != std::string_view::npos) safe += '\\';
    safe += c;
  }
  return safe;
}

/// As a formula writes it: a minus is no hyphen.
std::string typst_signs(std::string text) {
  for (std::size_t at = 0; (at = text.find("\\-", at)) != std::string::npos; at += 3) text.replace(at, 2, "−");
  return text;
}

std::string typst_field(const Field& field) {
  auto safe = field;
  safe.text = field.role == Role::kNumber ? typst_signs(typst_escaped(field.text)) : typst_escaped(field.text);
  safe.failures = typst_escaped(field.failures), safe.mark = typst_escaped(field.mark),
  safe.told = typst_signs(typst_escaped(field.told));
  return plain(safe, {"#strong[", "]", "#underline[", "]", "\\~"});
}

std::string typst_line(const std::vector<std::string>& fields) {
  std::string line = "  ";
  for (const auto& field : fields) line += "[" + field + "], ";
  line.back() = '\n';
  return line;
}

/// @param alignment "left, right" @param rows the first is the header; fields are escaped already @param trials of each row, as
/// row_trials has them; may be empty
std::string typst_lines(const std::string& alignment, std::size_t columns, const Rows& rows,
                        const std::vector<std::string>& trials = {}) {
  auto text =
      "#table(\n  columns: " + std::to_string(columns) + ", stroke: none, align: (" + alignment + "),\n  table.hline(),\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    auto line = typst_line(rows[i]);
    if (!trials.empty()) line.insert(line.size() - 1, " // ablate: " + trials[i]);
    text += line + (i == 0 ? "  table.hline(),\n" : "");
  }
  return text + "  table.hline(),\n)\n";
}

/// Our caption and notes are comments, since they speak of the command line, which does not belong in a paper; an author's
/// makes the table a figure.
std::string typst_table(const Table& table) {
  const auto layout = lay_out(table);
  auto text = "// " + one_row(layout.caption) + (layout.any_best ? kEmphasised : "") + "\n";
  const auto request = request_text(table);
  if (!request.empty()) text += "/// ablate " + request + "\n";
  if (layout.own_caption) text += "#figure(caption: [" + typst_escaped(layout.caption) + "])[\n";
  for (const auto& block : layout.blocks) {
    if (!block.title.empty())
      text += layout.own_caption ? "\n" + typst_escaped(block.title) + "\n" : "\n// " + one_row(block.title) + "\n";
    std::string alignment;
    Rows rows(1);
    std::vector<std::string> trials;
    if (!request.empty()) trials.emplace_back(kColumnsMark);
    for (const auto& field : block.header) {
      alignment += field.role == Role::kNumber ? "right, " : "left, ";
      rows[0].push_back(typst_escaped(field.text));
    }
    for (const auto& row : block.rows) {
      rows.emplace_back();
      for (const auto& field : row) rows.back().push_back(typst_field(field));
      if (!request.empty()) trials.push_back(row_trials(table, row));
    }
    text += typst_lines(alignment, block.header.size(), rows, trials);
  }
  if (layout.own_caption) text += layout.label.empty() ? "]\n" : "] <" + layout.label + ">\n";
  for (const auto& note : layout.notes) text += "// note: " + one_row(note) + "\n";
  return text;
}

std::string typst_rows_of(const Rows& rows) {
  auto safe = rows;
  std::string alignment;
  for (std::size_t i = 0; i < rows.front().size(); ++i) alignment += "left, ";
  for (auto& row : safe)
    for (auto& field : row) field = typst_escaped(field);
  return typst_lines(alignment, rows.front().size(), safe);
}

std::unique_ptr<RowPrinter> typst_rows(const Write& write) { return std::make_unique<CollectedRows>(typst_rows_of, write); }

}  // namespace

const Printer printers::typst{typst_table, typst_rows};

}  // namespace ablate::db
