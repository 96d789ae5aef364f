#include "db/report/effect_changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/util/error.h"
#include "core/util/flatten.h"
#include "core/util/nearest.h"
#include "db/report/comparisons.h"
#include "db/report/effects.h"
#include "db/report/reference_lines.h"

namespace ablate::db {
namespace {

constexpr const char* kReference = "--reference";

/// The setting that meets the conditions.
std::size_t reference_of(const Table& table, const std::vector<std::string>& conditions) {
  for (const auto& condition : conditions) {
    const auto path = history_path(condition.substr(0, condition.find('=')));
    if (condition.find('=') != std::string::npos && !path.empty() &&
        std::find(table.row_paths.begin(), table.row_paths.end(), path) == table.row_paths.end())
      throw Error(fmt::format(
          "{} {}: {} does not vary among the settings, expected {}{}", kReference, condition, path,
          fmt::join(table.row_paths, ", "),
          nearest(path, table.row_paths).empty() ? "" : fmt::format(" (did you mean {}?)", nearest(path, table.row_paths))));
  }
  const auto lines = reference_lines(kReference, conditions, table);
  if (lines.single()) return lines.of.front();
  std::vector<std::string> rest;
  for (const auto& path : table.row_paths)
    if (std::none_of(conditions.begin(), conditions.end(), [&](const auto& one) { return one.starts_with(path + "="); }))
      rest.push_back(path);
  throw Error(fmt::format("{} {}: found several settings that have it, expected one; name it further, by {}", kReference,
                          lines.text, fmt::join(rest, " or ")));
}

/// The one parameter in which a setting differs from another, or nothing. What one of them lacks makes no difference of its
/// own.
std::optional<std::size_t> changed(const std::vector<std::string>& from, const std::vector<std::string>& to) {
  std::vector<std::size_t> all, in_both;
  for (std::size_t p = 0; p < from.size(); ++p) {
    if (from[p] == to[p]) continue;
    all.push_back(p);
    if (from[p] != kAbsent && to[p] != kAbsent) in_both.push_back(p);
  }
  if (in_both.size() == 1) return in_both.front();
  if (in_both.empty() && all.size() == 1) return all.front();
  return std::nullopt;
}

/// The settings that are one change away from the reference, parameter by parameter.
std::vector<std::pair<std::size_t, Effects::Change>> changes_from(const Table& table, std::size_t reference) {
  std::vector<std::pair<std::size_t, Effects::Change>> all;
  const auto& from = table.rows[reference];
  for (std::size_t p = 0; p < from.size(); ++p)
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      const auto& to = table.rows[r];
      if (r == reference || changed(from, to) != p) continue;
      Effects::Change change{.path = table.row_paths[p], .from = from[p], .to = to[p]};
      for (std::size_t q = 0; q < to.size(); ++q)
        if (q != p && to[q] != from[q])
          change.with += fmt::format("{}{}", change.with.empty() ? "" : " ",
                                     to[q] == kAbsent ? "no " + table.row_paths[q] : table.row_paths[q] + "=" + to[q]);
      all.emplace_back(r, std::move(change));
    }
  return all;
}

}  // namespace

std::vector<std::string> reference_conditions(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= text.size();) {
    const auto to = std::min(text.find(',', from), text.size());
    const auto piece = text.substr(from, to - from);
    if (piece.find('=') == std::string::npos && !all.empty())
      all.back() += "," + piece;
    else
      all.push_back(piece);
    from = to + 1;
  }
  return all;
}

void fill_changes(Table& table, const std::vector<std::string>& conditions, std::vector<Effects>& all) {
  const auto reference = reference_of(table, conditions);
  const auto changes = changes_from(table, reference);
  Comparisons comparisons(table);
  std::vector<std::string> label;
  for (std::size_t p = 0; p < table.row_paths.size(); ++p)
    if (table.rows[reference][p] != kAbsent) label.push_back(table.row_paths[p] + "=" + table.rows[reference][p]);
  for (std::size_t m = 0; m < all.size(); ++m) {
    all[m].reference = fmt::format("{}", fmt::join(label, " "));
    all[m].changes.reserve(changes.size());  // a comparison stays where it is until all are told
    for (const auto& [setting, change] : changes) {
      auto& into = all[m].changes.emplace_back(change).difference;
      const auto at = table.index_of(setting, m, 0), to = table.index_of(reference, m, 0);
      const auto& none = table.cells[to].n == 0 ? table.cells[to] : table.cells[at];
      if (none.n > 0 && is_tested(table.metrics[m]))
        comparisons.compare(at, to, into);
      else if (none.n > 0)
        into.told = Comparison::Told::kUntested, into.untested = "it is a count",
        into.value = table.cells[at].mean - table.cells[to].mean;
      else
        into.told = Comparison::Told::kUntested,
        into.untested = &none == &table.cells[to] ? "the reference has no number" : "it has no number";
    }
  }
  comparisons.tell();
  comparisons.note("better, worse than " + all.front().reference);
  if (changes.empty()) table.notes.emplace_back("no setting differs from the reference in one parameter alone");
}

}  // namespace ablate::db
