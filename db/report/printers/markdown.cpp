#include <cctype>
#include <string_view>

#include "db/report/printers.h"
#include "db/report/printers/collected_rows.h"

namespace ablate::db {
namespace {

/// True if Markdown would read the character as emphasis, code, a link or HTML.
bool is_syntax(std::string_view text, std::size_t at) {
  const auto is_word = [&](std::size_t i) { return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i])) != 0; };
  const bool is_before_word = is_word(at + 1);
  if (text[at] == '_') return !(at > 0 && is_word(at - 1) && is_before_word);  // inside a word, as in names, it is plain
  if (text[at] == '&') return is_before_word || text.substr(at).starts_with("&#");
  return std::string_view("\\`*<[~").find(text[at]) != std::string_view::npos;
}

std::string markdown_text(std::string_view text) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_syntax(text, i)) safe += '\\';
    safe += text[i];
  }
  return safe;
}

std::string markdown_table(const Table& table) {
  return readable_table(table, render_markdown, {"**", "**", "<u>", "</u>", "~"}, {kEmphasised, "- note: ", markdown_text});
}

std::unique_ptr<RowPrinter> markdown_rows(const Write& write) {
  return std::make_unique<CollectedRows>(render_markdown, write, markdown_text);
}

}  // namespace

const Printer printers::markdown{markdown_table, markdown_rows};

}  // namespace ablate::db
