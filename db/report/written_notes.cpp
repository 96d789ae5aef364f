#include "db/report/written_notes.h"

#include <fmt/format.h>

#include <set>

#include "core/util/trimmed.h"

namespace ablate::db {
namespace {

constexpr std::string_view kItem = "<li>", kItemEnd = "</li>";

std::optional<std::string> behind(const std::string& line, std::string_view mark) {
  if (!line.starts_with(mark)) return std::nullopt;
  return trimmed(line.substr(mark.size()));
}

/// "`ablate audit a.toml --db b.db` finds them" without what stands in backticks.
std::string without_commands(const std::string& note) {
  std::string text;
  bool is_command = false;
  for (const char c : note)
    if (c == '`')
      is_command = !is_command;
    else if (!is_command)
      text += c;
  return text;
}

}  // namespace

std::string unescaped_html(std::string text) {
  for (const auto& [entity, plain] :
       {std::pair<std::string, std::string>{"&quot;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; at += plain.size())
      text.replace(at, entity.size(), plain);
  return text;
}

std::optional<std::string> NoteLines::take(const std::string& line, Format format) {
  const auto whole = trimmed(line, " \t\r");
  if (format == Format::kLatex) return behind(whole, "% note: ");
  if (format == Format::kTypst) return behind(whole, "// note: ");
  if (whole == "<ul class=\"ablate\">" || whole == "</ul>") in_list_ = whole != "</ul>";
  if (!in_list_ || !whole.starts_with(kItem) || !whole.ends_with(kItemEnd)) return std::nullopt;
  return unescaped_html(whole.substr(kItem.size(), whole.size() - kItem.size() - kItemEnd.size()));
}

std::vector<std::string> note_differences(const std::map<std::size_t, std::string>& found,
                                          const std::map<std::size_t, std::string>& expected, std::size_t table,
                                          const std::string& name) {
  std::vector<std::string> differences;
  std::set<std::string> is, should;
  for (const auto& [line, note] : found) is.insert(without_commands(note));
  for (const auto& [line, note] : expected) should.insert(without_commands(note));
  for (const auto& [line, note] : expected)
    if (!is.contains(without_commands(note)))
      differences.push_back(fmt::format("{}:{}: a note of the history that the file lacks: {}", name, table, note));
  for (const auto& [line, note] : found)
    if (!should.contains(without_commands(note)))
      differences.push_back(fmt::format("{}:{}: a note that the history does not give: {}", name, line, note));
  return differences;
}

}  // namespace ablate::db
