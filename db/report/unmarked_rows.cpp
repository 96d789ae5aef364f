#include "db/report/unmarked_rows.h"

#include <regex>

#include "core/util/trimmed.h"

namespace ablate::db {
namespace {

/// The line without comments.
std::string source_of(const std::string& line, Format format) {
  static const std::regex html("<!--.*?-->");
  if (format == Format::kHtml) return std::regex_replace(line, html, "");
  const std::string_view comment = format == Format::kLatex ? "%" : "//";
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '\\')
      ++i;  // what follows is escaped
    else if (line.compare(i, comment.size(), comment) == 0)
      return line.substr(0, i);
  return line;
}

bool holds_latex_row(const std::string& source) {
  static const std::regex end_of_cell(R"((^|[^\\])&|\\\\|\\tabularnewline|\\cr(?![A-Za-z]))");
  return std::regex_search(source, end_of_cell);
}

bool holds_typst_row(const std::string& source) {
  static const std::regex rule(R"(table\.[hv]line\(([^()]|\([^()]*\))*\),?)"), named(R"(^\s*[a-z-]+:)");
  return std::regex_replace(source, rule, "").find_first_of("[\"$") != std::string::npos && !std::regex_search(source, named);
}

bool holds_html_row(const std::string& source) {
  static const std::regex tag("<t[rdh](\\s|>|/|$)", std::regex::icase);
  return std::regex_search(source, tag);
}

}  // namespace

bool holds_row(const std::string& line, Format format) {
  const auto source = source_of(line, format);
  if (format == Format::kLatex) return holds_latex_row(source);
  return format == Format::kTypst ? holds_typst_row(source) : holds_html_row(source);
}

bool ends_table(const std::string& line, Format format) {
  const auto source = trimmed(source_of(line, format));
  if (format == Format::kTypst) return source.starts_with(')') && !source.starts_with("),");  // that ends a call within
  return source.find(format == Format::kLatex ? "\\end{" : "</table>") != std::string::npos;
}

}  // namespace ablate::db
