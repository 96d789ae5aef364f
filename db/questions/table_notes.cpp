#include "db/questions/table_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/util/shell_word.h"
#include "db/questions/settling.h"

namespace ablate::db {

std::vector<std::string> average_notes(const std::vector<Axis>& varying, const std::vector<std::string>& shown,
                                       const std::vector<std::vector<std::size_t>>& cells) {
  std::vector<std::string> notes;
  for (const auto& axis : varying) {
    if (std::find(shown.begin(), shown.end(), axis.path) != shown.end()) continue;
    std::vector<bool> averaged(axis.values.size(), false);
    constexpr auto kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> last_cell(axis.values.size(), kNone);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::vector<std::size_t> seen;
      for (const auto t : cells[i]) {
        if (axis.of_trial[t] < 0) continue;
        const auto value = static_cast<std::size_t>(axis.of_trial[t]);
        if (last_cell[value] != i) last_cell[value] = i, seen.push_back(value);
      }
      if (seen.size() > 1)
        for (const auto value : seen) averaged[value] = true;
    }
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < averaged.size(); ++i)
      if (averaged[i]) texts.push_back(axis.values[i].text);
    if (texts.empty()) continue;
    constexpr std::size_t kShown = 6;
    const bool more = texts.size() > kShown;
    if (more) texts.resize(kShown);
    notes.push_back(fmt::format("a cell averages over {} = {}{}; add it to --rows", axis.path, fmt::join(texts, ", "),
                                more ? ", ..." : ""));
  }
  return notes;
}

std::vector<std::string> left_out_notes(const Selection& selection, const std::string& experiment) {
  std::vector<std::string> notes;
  if (selection.earlier > 0)
    notes.push_back(fmt::format("{} of earlier grids {} left out; `ablate attempts {}` shows all that ran",
                                selection.earlier == 1 ? "1 trial" : fmt::format("{} trials", selection.earlier),
                                selection.earlier == 1 ? "is" : "are", shell_word(experiment)));
  if (selection.superseded > 0)
    notes.push_back(fmt::format(
        "{} earlier trial{} left out: the same settings were asked for again after a plugin, the data or ablate changed",
        selection.superseded, selection.superseded == 1 ? " is" : "s are"));
  return notes;
}

std::vector<std::string> settling_notes(const Table& table) {
  std::size_t unsettled = 0, timed = 0;
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t metric = 0; metric < table.metrics.size(); ++metric)
      for (std::size_t column = 0; column < table.columns.size(); ++column) {
        const auto& cell = table.cell(row, metric, column);
        unsettled += cell.unsettled;
        timed += !cell.samples.empty() && table.metrics[metric].of_steps;
      }
  if (unsettled == 0) return {};
  return {
      fmt::format("~ measured while the machine was busy, or before times settled: {} of {} cells with step times. The times "
                  "of a trial's steps spread by more than {:g} %, or its only thread waited for a processor for more than {:g} "
                  "% of them; run them again on an idle machine (--again)",
                  unsettled, timed, kMostSpread, 100 * (1 - kLeastComputing))};
}

}  // namespace ablate::db
