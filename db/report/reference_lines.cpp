#include "db/report/reference_lines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "core/util/row_conditions.h"

namespace ablate::db {
namespace {

/// A path and the value that its label must have.
struct Condition {
  std::string path, value;
};

Condition parse(const std::string& option, const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(fmt::format("{} {}: expected PATH=VALUE, for example attention=softmax", option, text));
  return {history_path(text.substr(0, equals)), text.substr(equals + 1)};
}

/// The rows, or the columns, of a table.
struct Lines {
  const char* name;  ///< "row"
  const std::vector<std::string>& paths;
  const std::vector<std::vector<std::string>>& labels;

  std::size_t index_of(const std::string& path) const {
    return static_cast<std::size_t>(std::find(paths.begin(), paths.end(), path) - paths.begin());
  }
  bool have(const std::vector<Condition>& conditions) const {
    return std::all_of(conditions.begin(), conditions.end(), [&](const auto& c) { return index_of(c.path) < paths.size(); });
  }
  bool meets(std::size_t line, const std::vector<Condition>& conditions) const {
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const auto& c) { return is_same_value(labels[line][index_of(c.path)], c.value); });
  }
  /// Returns "attention=adamra attention.rates=1/2".
  std::string label(std::size_t line) const {
    std::string text;
    for (std::size_t i = 0; i < paths.size(); ++i) text += fmt::format("{}{}={}", i > 0 ? " " : "", paths[i], labels[line][i]);
    return text;
  }
  std::vector<std::string> unnamed(const std::vector<Condition>& conditions) const {
    auto rest = paths;
    std::erase_if(rest, [&](const std::string& path) {
      return std::any_of(conditions.begin(), conditions.end(), [&](const auto& c) { return c.path == path; });
    });
    return rest;
  }
  /// True if two lines have equal values of all parameters that both have, except parameters that a condition names.
  bool agree(std::size_t a, std::size_t b, const std::vector<Condition>& conditions) const {
    for (std::size_t i = 0; i < paths.size(); ++i) {
      const bool named = std::any_of(conditions.begin(), conditions.end(), [&](const auto& c) { return c.path == paths[i]; });
      if (!named && labels[a][i] != labels[b][i] && labels[a][i] != kAbsent && labels[b][i] != kAbsent) return false;
    }
    return true;
  }
};

/// Returns " (did you mean attention=softmax?)" for the first condition that no line meets, or "" if no value is similar.
std::string nearest_value(const Lines& lines, const std::vector<Condition>& conditions) {
  for (const auto& condition : conditions) {
    std::vector<std::string> values;
    for (const auto& label : lines.labels)
      if (const auto& value = label[lines.index_of(condition.path)]; value != kAbsent) values.push_back(value);
    const auto near = nearest(condition.value, values);
    if (!near.empty() && near != condition.value) return fmt::format(" (did you mean {}={}?)", condition.path, near);
  }
  return "";
}

/// Returns the index of each line's reference.
std::vector<std::size_t> chosen_of(const std::string& option, const Lines& lines, const std::vector<Condition>& conditions,
                                   const std::string& text) {
  std::vector<std::size_t> candidates, chosen;
  std::set<std::string> known;
  for (std::size_t i = 0; i < lines.labels.size(); ++i) {
    if (lines.meets(i, conditions)) candidates.push_back(i);
    for (const auto& condition : conditions)
      known.insert(condition.path + "=" + lines.labels[i][lines.index_of(condition.path)]);
  }
  if (candidates.empty()) {
    std::vector<std::string> expected(known.begin(), known.end());
    constexpr std::size_t kShown = 12;
    if (expected.size() > kShown) expected.resize(kShown), expected.emplace_back("...");
    throw Error(fmt::format("{} {}: found no {} that has it, expected one of {}{}", option, text, lines.name,
                            fmt::join(expected, ", "), nearest_value(lines, conditions)));
  }
  for (std::size_t i = 0; i < lines.labels.size(); ++i) {
    auto fitting = candidates;
    if (fitting.size() > 1) std::erase_if(fitting, [&](std::size_t line) { return !lines.agree(i, line, conditions); });
    if (fitting.size() != 1)
      throw Error(fmt::format("{0} {1} matches {2} {3}s for {4}, expected one; add {0} PATH=VALUE for {5}", option, text,
                              fitting.size(), lines.name, lines.label(i), fmt::join(lines.unnamed(conditions), " or ")));
    chosen.push_back(fitting.front());
  }
  return chosen;
}

/// Throws Error because neither the rows nor the columns show all parameters of the reference.
[[noreturn]] void refuse(const std::string& option, const Table& table, const std::vector<Condition>& conditions,
                         const std::string& text) {
  auto shown = table.row_paths;
  shown.insert(shown.end(), table.column_paths.begin(), table.column_paths.end());
  const auto list = [](const std::vector<std::string>& paths) {
    return paths.empty() ? "none" : fmt::format("{}", fmt::join(paths, ", "));
  };
  const auto expected =
      fmt::format("expected one of the rows ({}) or of the columns ({})", list(table.row_paths), list(table.column_paths));
  for (const auto& [path, value] : conditions) {
    if (std::find(shown.begin(), shown.end(), path) != shown.end()) continue;
    const auto near = nearest(path, shown);
    throw Error(fmt::format("{4} {0}={1}: found the parameter {0}, {2}; {3}", path, value, expected,
                            near.empty() ? "--rows can add it" : fmt::format("did you mean {}={}?", near, value), option));
  }
  throw Error(
      fmt::format("{} {}: found a parameter of the rows and one of the columns, expected all of the rows ({}) or all of the "
                  "columns ({}); leave one out",
                  option, text, list(table.row_paths), list(table.column_paths)));
}

}  // namespace

bool ReferenceLines::single() const {
  return std::all_of(of.begin(), of.end(), [&](std::size_t one) { return one == of.front(); });
}

ReferenceLines reference_lines(const std::string& option, const std::vector<std::string>& conditions, const Table& table) {
  std::vector<Condition> all;
  for (const auto& text : conditions) {
    all.push_back(parse(option, text));
    const auto same_path = [&](const Condition& one) { return one.path == all.back().path; };
    if (const auto first = std::find_if(all.begin(), all.end() - 1, same_path); first != all.end() - 1)
      throw Error(fmt::format("{} {}: found two values of {} ({} and {}), expected one: a row has one value of each parameter",
                              option, text, first->path, first->value, all.back().value));
  }
  const Lines rows{"row", table.row_paths, table.rows}, columns{"column", table.column_paths, table.columns};
  ReferenceLines lines{.text = fmt::format("{}", fmt::join(conditions, " "))};
  lines.by_row = rows.have(all);
  if (!lines.by_row && !columns.have(all)) refuse(option, table, all, lines.text);
  lines.of = chosen_of(option, lines.by_row ? rows : columns, all, lines.text);
  return lines;
}

std::size_t row_named(const std::string& option, const std::string& row, const Table& table) {
  const auto lines = reference_lines(option, row_conditions(row), table);
  if (!lines.by_row) throw Error(fmt::format("{} '{}': found a column, expected a row: two rows are compared", option, row));
  if (!lines.single())
    throw Error(
        fmt::format("{} '{}': found several rows, expected one; name more parameters of the row, as in "
                    "'attention=adamra attention.rates=1/2'",
                    option, row));
  return lines.of.front();
}

}  // namespace ablate::db
