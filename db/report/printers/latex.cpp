#include "db/report/layout.h"
#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"

namespace ablate::db {
namespace {

/// Escapes TeX's special characters. Makes the text one row, because TeX reads an empty line as the end of a paragraph.
std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : one_row(text)) switch (c) {
      case '\\':
        safe += "\\textbackslash{}";
        break;
      case '~':
        safe += "\\textasciitilde{}";
        break;
      case '^':
        safe += "\\textasciicircum{}";
        break;
      case '<':
      case '>':
      case '|':
        safe += std::string("$") + c + "$";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        safe += '\\';
        [[fallthrough]];
      default:
        safe += c;
    }
  return safe;
}

/// Writes minus and ± in math mode, because TeX prints "-" as a hyphen.
std::string with_signs(std::string text) {
  for (const auto& [plain, sign] : {std::pair<std::string, std::string>{"-", "$-$"}, {"±", "$\\pm$"}})
    for (std::size_t at = 0; (at = text.find(plain, at)) != std::string::npos; at += sign.size())
      text.replace(at, plain.size(), sign);
  return text;
}

std::string field_text(const Field& field) {
  auto safe = field;
  safe.text = field.role == FieldRole::kNumber ? with_signs(escaped(field.text)) : escaped(field.text);
  safe.failures = escaped(field.failures), safe.mark = escaped(field.mark);
  if (safe.significance == "-") safe.significance = "$-$";
  if (safe.significance == "≠") safe.significance = "$\\neq$";
  return plain(safe, {"\\textbf{", "}", "\\underline{", "}", "$\\sim$"});
}

std::string line_of(const std::vector<std::string>& fields) {
  std::string line = "  ";
  // After the end of a line or a rule, TeX would read "[" or "*" as an argument.
  if (!fields.empty() && (fields[0].starts_with('[') || fields[0].starts_with('*'))) line += "{}";
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i > 0 ? " & " : "") + fields[i];
  return line + " \\\\\n";
}

/// @param block header first; its fields are already escaped
std::string tabular(const MarkedRows& block) {
  auto text = "\\begin{tabular}{" + block.columns + "}\n  \\toprule\n";
  for (std::size_t i = 0; i < block.rows.size(); ++i) {
    auto line = line_of(block.rows[i]);
    if (!block.trials.empty()) line.insert(line.size() - 1, " % ablate: " + block.trials[i]);
    text += line + (i == 0 ? "  \\midrule\n" : "");
  }
  return text + "  \\bottomrule\n\\end{tabular}\n";
}

/// Writes ablate's caption and notes as comments, because they name commands. An author's caption makes a floating table.
std::string latex_table(const Table& table) {
  const auto layout = lay_out(table);
  auto text = "% " + one_row(layout.caption) + (layout.any_best ? kEmphasised : "") + "\n% \\usepackage{booktabs}\n";
  const auto request = request_text(table);
  if (!request.empty()) text += "%% ablate " + request + "\n";
  if (layout.own_caption) text += "\\begin{table}\n\\centering\n\\caption{" + escaped(layout.caption) + "}\n";
  if (!layout.label.empty()) text += "\\label{" + layout.label + "}\n";
  for (const auto& block : layout.blocks) {
    if (!block.title.empty())
      text +=
          layout.own_caption ? "\n\\par\\smallskip " + escaped(block.title) + "\\par\n" : "\n% " + one_row(block.title) + "\n";
    text += tabular(marked_rows(table, block, escaped, field_text, "r", "l"));
  }
  if (layout.own_caption) text += "\\end{table}\n";
  for (const auto& note : layout.notes) text += "% note: " + one_row(note) + "\n";
  return text;
}

std::string rows_of(const std::vector<std::vector<std::string>>& rows) {
  auto safe = rows;
  for (auto& row : safe)
    for (auto& field : row) field = escaped(field);
  return "% \\usepackage{booktabs}\n" + tabular({std::string(rows.front().size(), 'l'), safe, {}});
}

std::unique_ptr<RowPrinter> latex_rows(const Write& write) { return std::make_unique<CollectedRows>(rows_of, write); }

}  // namespace

const Printer printers::latex{latex_table, latex_rows};

}  // namespace ablate::db
