#include "db/report/written_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/algorithm/string.hpp>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/util/error.h"
#include "core/util/trimmed.h"
#include "db/report/layout.h"
#include "db/report/printers.h"

namespace ablate::db {
namespace {

constexpr const char *kRows = "(rows)", *kHeader = "(the header)";

constexpr const char* kBlanks = " \t";

/// Removes the text between two texts, unless the removed text would contain `barrier`.
void erase_between(std::string& text, const std::string& before, const std::string& after, char barrier) {
  const auto at = text.find(before);
  if (at == std::string::npos) return;
  const auto from = at + before.size(), to = text.find(after, from);
  if (to != std::string::npos && text.find(barrier, from) >= to) text.erase(from, to - from);
}

/// Returns the index in a line at which a table begins (\begin{tabular}, #table( or <table); npos if none begins. Here and
/// below, the format is only kLatex, kTypst or kHtml.
std::size_t table_begin(const std::string& line, Format format) {
  if (format == Format::kHtml) return line.find("<table");
  if (trimmed(line, kBlanks).starts_with(format == Format::kLatex ? "%" : "//")) return std::string::npos;
  return line.find(format == Format::kLatex ? "\\begin{tabular}" : "#table(");
}

/// True if a line of a table shows no text: a blank line, only a comment, or a rule (\midrule, table.hline(), <tbody>).
bool shows_nothing(const std::string& line, Format format) {
  static const std::regex latex(R"((\\(toprule|midrule|bottomrule|hline|addlinespace(\[[0-9.]+(pt|em|ex|mm)\])?|)"
                                R"(cmidrule(\([lr]+\))?\{[0-9]+-[0-9]+\})\s*)*)"),
      typst(R"((table\.hline\(((stroke|y|start|end): [0-9a-z.]+(, )?)*\),?\s*)*)"), html(R"((</?tbody>\s*)*)");
  auto whole = trimmed(line, kBlanks);
  // An HTML comment that contains ">" may end there.
  if (format == Format::kHtml && whole.starts_with("<!--") && whole.ends_with("-->") && whole.find('>') + 1 == whole.size())
    return true;
  if (format != Format::kHtml) whole = whole.substr(0, whole.find(format == Format::kLatex ? "%" : "//"));
  constexpr std::size_t kMostRules = 1000;  // characters; the standard library's search uses stack for each character
  if (whole.size() > kMostRules) return false;
  return std::regex_match(whole, format == Format::kLatex ? latex : format == Format::kTypst ? typst : html);
}

/// Returns the index after the end of a table in a line ("\end{tabular}", ")", "</table>"); npos if the table continues. Typst
/// may read text after the ")" as part of the call: the whole line is then part of the table, unless the text is a comment.
std::size_t table_end(const std::string& line, Format format) {
  if (format == Format::kTypst && !trimmed(line, kBlanks).starts_with(')')) return std::string::npos;
  const std::string end = format == Format::kLatex ? "\\end{tabular}" : format == Format::kTypst ? ")" : "</table>";
  const auto at = line.find(end);
  if (at == std::string::npos) return at;
  // Typst reads `)[a](b).c` as one call.
  const bool goes_on = format == Format::kTypst && !shows_nothing(line.substr(at + 1), format);
  return goes_on ? line.size() : at + end.size();
}

/// Returns the compared form of a line: several blanks become one, and HTML loses the command and a caption without tags.
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

/// Returns the lines of a text. A line ends at every character that TeX, Typst or people read as an end of line.
std::vector<std::string> lines_of(std::string text) {
  for (const auto* end : {"\r\n", "\xE2\x80\xA8", "\xE2\x80\xA9", "\xC2\x85", "\r", "\v", "\f"})
    boost::replace_all(text, end, "\n");
  std::vector<std::string> lines;
  boost::split(lines, text, boost::is_any_of("\n"));
  return lines;
}

/// Returns a message for each line that only one of the frames has. `found` must not be empty.
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

/// Texts that identify a table's lines in a format.
struct Marks {
  Format format;
  const char *request, *request_end;  ///< text before and after the command's words
  const char* row;                    ///< precedes a row's trials
  const char* comment;                ///< begins a line that is not a row
};

constexpr Marks kMarks[] = {{Format::kLatex, "%% ablate [", "\n", "\\\\ % ablate: ", "%"},
                            {Format::kTypst, "/// ablate [", "\n", "], // ablate: ", "//"},
                            {Format::kHtml, "data-ablate=\"[", "\"", "<tr data-ablate=\"", "<!--"}};

/// Returns the text that a browser shows.
std::string unescaped_html(std::string text) {
  for (const auto& [entity, plain] :
       {std::pair<std::string, std::string>{"&quot;", "\""}, {"&#39;", "'"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&amp;", "&"}})
    for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; at += plain.size())
      text.replace(at, entity.size(), plain);
  return text;
}

/// Returns a field without the escapes of its format.
std::string readable(const std::string& field, Format format) {
  if (format == Format::kHtml) return unescaped_html(field);
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i)
    if (field[i] != '\\' || i + 1 == field.size() || std::isalnum(static_cast<unsigned char>(field[i + 1])) != 0)
      text += field[i];
  return text;
}

/// Parses the text of row_trials into trials by column.
std::map<std::size_t, std::string> trials_of(const std::string& text) {
  std::map<std::size_t, std::string> trials;
  std::istringstream cells(text);
  for (std::string cell; std::getline(cells, cell, ';');) {
    const auto whole = trimmed(cell);
    const auto blank = whole.find(' ');
    const auto number = whole.substr(0, blank);
    if (blank == std::string::npos || number.size() > 6 || number.find_first_not_of("0123456789") != std::string::npos)
      continue;
    trials[std::stoul(number)] = whole.substr(blank + 1);
  }
  return trials;
}

std::vector<std::string> latex_fields(const std::string& row) {
  std::vector<std::string> fields(1);
  for (std::size_t i = 0; i < row.size(); ++i)
    if (row[i] == '&' && (i == 0 || row[i - 1] != '\\'))
      fields.emplace_back();
    else
      fields.back() += row[i];
  for (auto& field : fields) field = trimmed(field);
  return fields;
}

/// @param row "[a], [b], [c"
std::vector<std::string> typst_fields(const std::string& row) {
  std::vector<std::string> fields;
  for (std::size_t from = row.find('[') + 1;;) {
    const auto end = row.find("], [", from);
    fields.push_back(trimmed(row.substr(from, end - from)));
    if (end == std::string::npos) return fields;
    from = end + 4;
  }
}

void read_html_row(const std::string& line, WrittenRow& row) {
  constexpr std::string_view kTrials = "data-trials=\"";
  for (std::size_t at = line.find("<tr") + 3; (at = line.find("<t", at)) != std::string::npos;) {
    const auto open = line.find('>', at);
    if (open == std::string::npos) return;
    const auto tag = line.substr(at, open - at);
    const auto end = line.find(row.is_header ? "</th>" : "</td>", open);
    row.fields.push_back(trimmed(line.substr(open + 1, end == std::string::npos ? end : end - open - 1)));
    if (const auto trials = tag.find(kTrials); trials != std::string::npos) {
      const auto from = trials + kTrials.size();
      row.trials[row.fields.size()] = tag.substr(from, tag.find('"', from) - from);
    }
    at = open;
  }
}

std::optional<WrittenRow> written_row(const std::string& line, const Marks& marks) {
  const auto mark = line.rfind(marks.row);
  if (mark == std::string::npos || trimmed(line).starts_with(marks.comment)) return std::nullopt;
  WrittenRow row;
  const auto said = trimmed(line.substr(mark + std::string_view(marks.row).size()), " \t\r");
  row.is_header = said.starts_with(kColumnsMark);
  if (marks.format == Format::kHtml) {
    read_html_row(line.substr(mark), row);
    return row;
  }
  static const std::regex trials("-|columns|[0-9]+ [0-9a-fl ]+(; [0-9]+ [0-9a-fl ]+)*");  // the letter l is for "all"
  if (!std::regex_match(said, trials)) return std::nullopt;
  row.trials = trials_of(said);
  row.fields = (marks.format == Format::kLatex ? latex_fields : typst_fields)(line.substr(0, mark));
  return row;
}

/// Returns the words of the command in a line, or nullopt.
std::optional<std::vector<std::string>> request_of(const std::string& line, const Marks& marks, const std::string& where) {
  const auto mark = line.find(marks.request);
  if (mark == std::string::npos || (marks.format != Format::kHtml && !trimmed(line).starts_with(marks.request)))
    return std::nullopt;
  const auto from = mark + std::string_view(marks.request).size() - 1;
  auto text = line.substr(from, line.find(marks.request_end, from) - from);
  if (marks.format == Format::kHtml) text = unescaped_html(text);
  const auto words = nlohmann::json::parse(text, nullptr, false);
  const auto is_text = [](const auto& word) { return word.is_string(); };
  if (!words.is_array() || words.empty() || !std::all_of(words.begin(), words.end(), is_text))
    throw Error(fmt::format("{}found {}, expected the words of a command as ablate wrote them", where, text));
  return words.get<std::vector<std::string>>();
}

/// Returns the rows with their labels. A label ends with the number of the row's block, unless this is the first block.
std::vector<std::pair<std::string, const WrittenRow*>> labelled_rows(const WrittenTable& table, std::size_t labels) {
  std::map<std::string, int> seen;
  std::vector<std::pair<std::string, const WrittenRow*>> rows;
  for (const auto& row : table.rows) {
    const std::size_t first =
        !row.is_header && !table.rows.front().fields.empty() && table.rows.front().fields[0].empty() ? 1 : 0;
    std::string label;
    for (auto i = first; i < std::min(first + labels, row.fields.size()); ++i)
      label += (i == first ? "" : ", ") + readable(row.fields[i], table.format);
    if (row.is_header) label = "the header";
    if (row.block == kNoBlock)
      label += " (outside of a table)";
    else if (row.block > 0)
      label += fmt::format(" (block {})", row.block + 1);
    if (const int above = seen[label]++; above > 0) label += fmt::format(" (again, {})", above + 1);
    rows.emplace_back(label, &row);
  }
  return rows;
}

std::set<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  std::set<std::string> words;
  for (std::string word; in >> word;) words.insert(word);
  return words;
}

/// Returns "the history has trials that the file lacks: b; the file has trials that the history lacks: a" for two cells.
std::string trials_difference(const std::string& found, const std::string& expected) {
  if (found.starts_with("all ") || expected.starts_with("all "))
    return fmt::format("found trials {}, expected {}", found.empty() ? "none" : found, expected.empty() ? "none" : expected);
  const auto before = words_in(found), now = words_in(expected);
  std::vector<std::string> fresh, gone;
  std::set_difference(now.begin(), now.end(), before.begin(), before.end(), std::back_inserter(fresh));
  std::set_difference(before.begin(), before.end(), now.begin(), now.end(), std::back_inserter(gone));
  std::string text;
  if (!fresh.empty()) text = fmt::format("the history has trials that the file lacks: {}", fmt::join(fresh, " "));
  if (!gone.empty())
    text += fmt::format("{}the file has trials that the history lacks: {}", text.empty() ? "" : "; ", fmt::join(gone, " "));
  return text;
}

/// @param headings the block's headings, without escapes
void compare_rows(const std::string& label, const WrittenRow& found, const WrittenRow& expected,
                  const std::vector<std::string>& headings, const std::string& name, std::vector<std::string>& differences) {
  const auto add = [&](std::size_t column, const std::string& what) {
    const auto heading = !found.is_header && column <= headings.size() ? headings[column - 1] : std::string();
    differences.push_back(fmt::format("{}:{}: {}, {}: {}", name, found.line, label,
                                      heading.empty() ? fmt::format("column {}", column) : heading, what));
  };
  const auto shown = [](const std::string& field) { return field.empty() ? std::string("nothing") : field; };
  for (std::size_t i = 0; i < std::max(found.fields.size(), expected.fields.size()); ++i) {
    const auto is = i < found.fields.size() ? found.fields[i] : "",
               should = i < expected.fields.size() ? expected.fields[i] : "";
    if (is != should) add(i + 1, fmt::format("found {}, expected {}", shown(is), shown(should)));
  }
  const bool is_alike = found.fields == expected.fields;
  std::set<std::size_t> columns;
  for (const auto* trials : {&found.trials, &expected.trials})
    for (const auto& [column, unused] : *trials) columns.insert(column);
  const auto at = [](const WrittenRow& row, std::size_t column) {
    const auto cell = row.trials.find(column);
    return cell == row.trials.end() ? std::string() : cell->second;
  };
  const auto before = differences.size();
  for (const auto column : columns)
    if (at(found, column) != at(expected, column)) add(column, trials_difference(at(found, column), at(expected, column)));
  if (differences.size() == before && is_alike && found.source != expected.source)
    differences.push_back(
        fmt::format("{}:{}: {}: found {}, expected {}", name, found.line, label, found.source, expected.source));
}

/// Adds a line to its block. Updates `within`, which is true while a block continues.
void add_line(std::size_t number, std::string line, std::optional<WrittenRow> row, bool& within, WrittenTable& table) {
  if (const auto begin = table_begin(line, table.format); !within && begin != std::string::npos) {
    within = true;
    table.frames.emplace_back();
    line.erase(0, begin);
  }
  const bool is_inside = within;
  if (const auto end = table_end(line, table.format); is_inside && end != std::string::npos) {
    within = false;
    line.erase(end);
  }
  if (row) {
    row->line = number;
    row->block = is_inside ? table.frames.size() - 1 : kNoBlock;
    row->source = compared_line(line, table.format);
  }
  if (is_inside && (row || !shows_nothing(line, table.format))) {
    auto& frame = table.frames.back();
    const auto text = !row ? compared_line(line, table.format) : std::string(row->is_header ? kHeader : kRows);
    if (text != kRows || frame.empty() || frame.back().second != kRows) frame.emplace_back(number, text);
  }
  if (row) table.rows.push_back(std::move(*row));
}

constexpr std::string_view kItem = "<li>", kItemEnd = "</li>";

std::optional<std::string> behind(const std::string& line, std::string_view mark) {
  if (!line.starts_with(mark)) return std::nullopt;
  return trimmed(line.substr(mark.size()));
}

/// Removes commands in backticks: returns " finds them" for "`ablate audit a.toml --db b.db` finds them".
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

/// Reads notes from the lines of a text, in order.
class NoteLines {
 public:
  /// Returns the note in a line after a table, unescaped, or nullopt.
  std::optional<std::string> take(const std::string& line, Format format) {
    const auto whole = trimmed(line, " \t\r");
    if (format == Format::kLatex) return behind(whole, "% note: ");
    if (format == Format::kTypst) return behind(whole, "// note: ");
    if (whole == "<ul class=\"ablate\">" || whole == "</ul>") in_list_ = whole != "</ul>";
    if (!in_list_ || !whole.starts_with(kItem) || !whole.ends_with(kItemEnd)) return std::nullopt;
    return unescaped_html(whole.substr(kItem.size(), whole.size() - kItem.size() - kItemEnd.size()));
  }

 private:
  bool in_list_ = false;  ///< inside an HTML list
};

}  // namespace

std::vector<WrittenTable> written_tables(std::string_view text, const std::string& name) {
  std::vector<WrittenTable> tables;
  std::size_t number = 0;
  NoteLines notes;
  bool within = false;  // inside a block of the last table
  for (auto& line : lines_of(std::string(text))) {
    ++number;
    const auto where = fmt::format("{}:{}: ", name, number);
    if (auto note = tables.empty() ? std::nullopt : notes.take(line, tables.back().format)) {
      tables.back().notes[number] = std::move(*note);
      continue;
    }
    for (const auto& marks : kMarks) {
      if (auto words = request_of(line, marks, where)) {
        tables.push_back({number, marks.format, std::move(*words), {}, {}, {}});
        within = false;
      }
      if (!tables.empty() && tables.back().format != marks.format) continue;
      auto row = written_row(line, marks);
      if (tables.empty() && row)
        throw Error(fmt::format("{}found a row of a table whose command is gone, expected the line \"{}...\" above it", where,
                                marks.request));
      if (!tables.empty()) add_line(number, line, std::move(row), within, tables.back());
    }
  }
  return tables;
}

std::vector<std::string> table_differences(const WrittenTable& found, const WrittenTable& expected, std::size_t labels,
                                           const std::string& name) {
  std::vector<std::string> differences;
  const auto is = labelled_rows(found, labels), should = labelled_rows(expected, labels);
  const auto find = [](const auto& rows, const std::string& label) {
    const auto at = std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.first == label; });
    return at == rows.end() ? nullptr : at->second;
  };
  std::vector<std::string> headings;
  for (const auto& [label, row] : should) {
    if (row->is_header) {
      headings.clear();
      for (const auto& field : row->fields) headings.push_back(readable(field, expected.format));
    }
    if (const auto* written = find(is, label); written == nullptr)
      differences.push_back(fmt::format("{}:{}: {}: a row of the history that the file lacks", name, found.line, label));
    else
      compare_rows(label, *written, *row, headings, name, differences);
  }
  for (const auto& [label, row] : is)
    if (find(should, label) == nullptr)
      differences.push_back(fmt::format("{}:{}: {}: a row that is not in the history", name, row->line, label));
  for (const auto& line : note_differences(found.notes, expected.notes, found.line, name)) differences.push_back(line);
  for (std::size_t i = 0; i < std::min(found.frames.size(), expected.frames.size()); ++i)
    for (const auto& line : frame_differences(found.frames[i], expected.frames[i], name)) differences.push_back(line);
  return differences;
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
      differences.push_back(fmt::format("{}:{}: a note that is not in the history: {}", name, line, note));
  return differences;
}

}  // namespace ablate::db
