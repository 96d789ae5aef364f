#include "core/util/markup.h"
#include "db/report/layout.h"
#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"

namespace ablate::db {
namespace {

/// Returns the escaped text in one row.
std::string html_escaped(std::string_view text) { return markup_escaped(one_row(text), "\"'"); }

std::string html_field(const Field& field) {
  auto safe = field;
  safe.text = html_escaped(field.text), safe.failures = html_escaped(field.failures), safe.mark = html_escaped(field.mark);
  return plain(safe, {"<strong>", "</strong>", "<u>", "</u>", "~"});
}

/// @param table nullptr: the fields have no trials
std::string html_line(const char* tag, const std::vector<Field>& fields, const Table* table = nullptr) {
  const bool carries = table != nullptr && !table->request.empty();
  const auto what = std::string(tag) == "th" ? kColumnsMark : "trials";
  auto line = carries ? std::string("    <tr data-ablate=\"") + what + "\">" : std::string("    <tr>");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto& field = fields[i];
    const bool is_first = i == 0 || field.cell != fields[i - 1].cell;
    const auto trials = carries && is_first ? trials_text(*table, field) : std::string();
    line += std::string("<") + tag + (field.role == FieldRole::kNumber ? " class=\"number\"" : "") +
            (trials.empty() ? "" : " data-trials=\"" + trials + "\"") + ">" + html_field(field) + "</" + tag + ">";
  }
  return line + "</tr>\n";
}

/// Writes a fragment without styles: the page that includes the fragment provides styles.
std::string html_table(const Table& table) {
  const auto layout = lay_out(table);
  std::string text;
  for (const auto& block : layout.blocks) {
    const auto title = html_escaped(layout.caption) + (layout.any_best ? kEmphasised : "") +
                       (block.title.empty() ? "" : "; " + html_escaped(block.title));
    const bool is_first = text.empty();
    text += std::string("<table class=\"ablate\"") + (is_first && !layout.label.empty() ? " id=\"" + layout.label + "\"" : "") +
            (is_first && !table.request.empty() ? " data-ablate=\"" + html_escaped(request_text(table)) + "\"" : "") +
            ">\n  <caption>" + title + "</caption>\n  <thead>\n" + html_line("th", block.header, &table) +
            "  </thead>\n  <tbody>\n";
    for (const auto& row : block.rows) text += html_line("td", row, &table);
    text += "  </tbody>\n</table>\n";
  }
  if (layout.notes.empty()) return text;
  text += "<ul class=\"ablate\">\n";
  for (const auto& note : layout.notes) text += "  <li>" + html_escaped(note) + "</li>\n";
  return text + "</ul>\n";
}

std::string html_lines(const Rows& rows) {
  std::string text = "<table class=\"ablate\">\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<Field> fields;
    for (const auto& one : rows[i]) fields.push_back({.text = one});
    text += html_line(i == 0 ? "th" : "td", fields);
  }
  return text + "</table>\n";
}

std::unique_ptr<RowPrinter> html_rows(const Write& write) { return std::make_unique<CollectedRows>(html_lines, write); }

}  // namespace

const Printer printers::html{html_table, html_rows};

}  // namespace ablate::db
