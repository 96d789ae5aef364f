#include "db/report/table_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <regex>
#include <set>

#include "core/util/trimmed.h"

namespace ablate::db {
namespace {

constexpr const char* kBlanks = " \t";

/// Removes the text between two texts, unless it has `barrier` in it.
void erase_between(std::string& text, const std::string& before, const std::string& after, char barrier) {
  const auto at = text.find(before);
  if (at == std::string::npos) return;
  const auto from = at + before.size(), to = text.find(after, from);
  if (to != std::string::npos && text.find(barrier, from) >= to) text.erase(from, to - from);
}

}  // namespace

std::size_t table_begin(const std::string& line, Format format) {
  if (format == Format::kHtml) return line.find("<table");
  if (trimmed(line, kBlanks).starts_with(format == Format::kLatex ? "%" : "//")) return std::string::npos;
  return line.find(format == Format::kLatex ? "\\begin{tabular}" : "#table(");
}

std::size_t table_end(const std::string& line, Format format) {
  if (format == Format::kTypst && !trimmed(line, kBlanks).starts_with(')')) return std::string::npos;
  const std::string end = format == Format::kLatex ? "\\end{tabular}" : format == Format::kTypst ? ")" : "</table>";
  const auto at = line.find(end);
  if (at == std::string::npos) return at;
  // Typst reads `)[a](b).c` as one call.
  const bool goes_on = format == Format::kTypst && !shows_nothing(line.substr(at + 1), format);
  return goes_on ? line.size() : at + end.size();
}

bool shows_nothing(const std::string& line, Format format) {
  static const std::regex latex(R"((\\(toprule|midrule|bottomrule|hline|addlinespace(\[[0-9.]+(pt|em|ex|mm)\])?|)"
                                R"(cmidrule(\([lr]+\))?\{[0-9]+-[0-9]+\})\s*)*)"),
      typst(R"((table\.hline\(((stroke|y|start|end): [0-9a-z.]+(, )?)*\),?\s*)*)"), html(R"((</?tbody>\s*)*)");
  auto whole = trimmed(line, kBlanks);
  // A comment of HTML with ">" in it may end there.
  if (format == Format::kHtml && whole.starts_with("<!--") && whole.ends_with("-->") && whole.find('>') + 1 == whole.size())
    return true;
  if (format != Format::kHtml) whole = whole.substr(0, whole.find(format == Format::kLatex ? "%" : "//"));
  constexpr std::size_t kMostRules = 1000;  // characters: the standard library's search takes stack for each
  if (whole.size() > kMostRules) return false;
  return std::regex_match(whole, format == Format::kLatex ? latex : format == Format::kTypst ? typst : html);
}

std::string compared_line(const std::string& line, Format format) {
  std::string text;
  for (const char c : trimmed(line, kBlanks)) {
    const bool is_blank = c == ' ' || c == '\t', is_behind = !text.empty() && (text.back() == ' ' || text.back() == '&');
    if (format == Format::kLatex && c == '&' && text.ends_with(' ')) text.pop_back();
    if (!is_blank || !is_behind || (text.back() == '&' && format != Format::kLatex)) text += is_blank ? ' ' : c;
  }
  if (format == Format::kHtml) {
    erase_between(text, " data-ablate=\"[", "\"", '>');
    erase_between(text, "<caption>", "</caption>", '<');
  }
  return text;
}

std::vector<std::string> lines_of(std::string text) {
  for (const auto* end : {"\r\n", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xC2\x85", "\r", "\v", "\f"})
    boost::replace_all(text, end, "\n");
  std::vector<std::string> lines;
  boost::split(lines, text, boost::is_any_of("\n"));
  return lines;
}

std::vector<std::string> frame_differences(const Frame& found, const Frame& expected, const std::string& name) {
  std::multiset<std::string> lacking;
  for (const auto& [unused, text] : expected) lacking.insert(text);
  std::vector<std::string> differences;
  for (const auto& [line, text] : found)
    if (const auto at = lacking.find(text); at != lacking.end())
      lacking.erase(at);
    else if (text != kRows)
      differences.push_back(
          fmt::format("{}:{}: found {}, a line that ablate did not write, in a table of ablate", name, line, text));
  const auto where = fmt::format("{}:{}: ", name, found.front().first);
  for (const auto& text : lacking)
    if (text != kRows && text != kHeader) differences.push_back(fmt::format("{}the table lacks the line {}", where, text));
  const auto is_same = [](const auto& a, const auto& b) { return a.second == b.second; };
  if (differences.empty() && !std::equal(found.begin(), found.end(), expected.begin(), expected.end(), is_same))
    differences.push_back(where + "the table's lines are not in the order in which ablate writes them; rows may be moved");
  return differences;
}

}  // namespace ablate::db
