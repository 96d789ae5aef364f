#include "db/questions/match_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/row_conditions.h"
#include "db/questions/conditions.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

struct Sizes {
  double own, reference;  ///< as recorded
  double off() const { return (own - reference) / reference; }
};

/// As tables show it: attention.rates=["1/2", "1/4"] is attention.rates=1/2,1/4.
std::vector<std::string> conditions_of(const std::string& reference) {
  auto conditions = row_conditions(reference);
  for (auto& condition : conditions)
    if (condition.find("=[") != std::string::npos)
      std::erase_if(condition, [](char c) { return c == '[' || c == ']' || c == '"' || c == ' '; });
  return conditions;
}

/// Those that the table shows, where dev may have chosen: else all of the experiment's. Throws Error where there is none.
std::vector<SelectedTrial> references_of(const Reader& reader, std::int64_t experiment, const StudyMatch& match,
                                         const std::vector<SelectedTrial>& shown) {
  const auto conditions = conditions_of(match.reference);
  const auto all = keep_where(reader, select_trials(reader, experiment).trials, conditions).trials;
  std::set<std::int64_t> ids;
  for (const auto& trial : shown) ids.insert(trial.id);
  std::vector<SelectedTrial> among;
  std::copy_if(all.begin(), all.end(), std::back_inserter(among), [&](const auto& trial) { return ids.contains(trial.id); });
  return among.empty() ? all : among;
}

/// What the trials of one experiment have, beside their references.
class MatchedTrials {
 public:
  /// @param shown of the experiment. Throws Error where the history has no reference, or no such number of any trial.
  MatchedTrials(const Reader& reader, std::int64_t experiment, const StudyMatch& match,
                const std::vector<SelectedTrial>& shown) {
    auto all = references_of(reader, experiment, match, shown);
    const auto references = all.size();
    std::vector<std::string> paths;  // in which references differ
    for (const auto& axis : varying_axes(reader, all))
      if (axis.path != setting::kSeed) paths.push_back(axis.path);
    all.insert(all.end(), shown.begin(), shown.end());
    const auto numbers = load_results(reader, reader.metrics_named(match.metric()).front().id, all);
    std::vector<std::vector<int>> places(all.size());
    const auto known = reader.paths();
    for (const auto& path : paths) {
      const auto axis = load_axis(reader, path, known.at(path), all);
      for (std::size_t t = 0; t < all.size(); ++t) places[t].push_back(axis.of_trial[t]);
    }
    std::map<std::vector<int>, double> targets;
    for (std::size_t t = 0; t < references; ++t) {
      references_.insert(all[t].id);
      if (numbers[t] && *numbers[t] > 0) targets.emplace(places[t], *numbers[t]);
    }
    for (std::size_t t = references; t < all.size(); ++t) {
      if (!numbers[t] || references_.contains(all[t].id)) continue;
      if (const auto target = targets.find(places[t]); target != targets.end())
        sizes_.insert_or_assign(all[t].id, Sizes{*numbers[t], target->second});
      else
        alone_.insert(all[t].id);
    }
  }

  /// nullptr of a reference, and where one of the two has no number.
  const Sizes* find(std::int64_t trial) const {
    const auto found = sizes_.find(trial);
    return found == sizes_.end() ? nullptr : &found->second;
  }

  /// It has a number, and no reference that has run.
  bool is_alone(std::int64_t trial) const { return alone_.contains(trial); }

 private:
  std::set<std::int64_t> references_, alone_;
  std::map<std::int64_t, Sizes> sizes_;
};

/// "attention=adamra model.hidden=37"
std::string row_as_conditions(const Table& table, std::size_t row) {
  std::string text;
  for (std::size_t p = 0; p < table.row_paths.size(); ++p)
    if (table.rows[row][p] != kAbsent)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", table.row_paths[p], table.rows[row][p]);
  return text.empty() ? "the only row" : text;
}

/// What the table shows of an experiment.
std::vector<SelectedTrial> shown_of(std::int64_t experiment, const TableTrials& from) {
  std::set<std::size_t> members;
  for (const auto& cell : from.members) members.insert(cell.begin(), cell.end());
  std::vector<SelectedTrial> shown;
  for (const auto t : members)
    if (from.trials[t].experiment == experiment) shown.push_back(from.trials[t]);
  return shown;
}

std::string match_note(const MatchedTrials& trials, std::int64_t experiment, const StudyMatch& match, const TableTrials& from,
                       const Table& table) {
  constexpr double kMiB = 1024.0 * 1024.0;
  const double unit = match.is_of_state() ? kMiB : 1;
  std::vector<std::string> off, alone;
  bool is_any = false;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const Sizes* worst = nullptr;
    bool is_alone = false;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
      for (const auto t : from.members[row * table.columns.size() + column]) {
        if (from.trials[t].experiment != experiment) continue;
        is_alone = is_alone || trials.is_alone(from.trials[t].id);
        if (const auto* sizes = trials.find(from.trials[t].id);
            sizes != nullptr && (worst == nullptr || std::abs(sizes->off()) > std::abs(worst->off())))
          worst = sizes;
      }
    is_any = is_any || worst != nullptr;
    if (is_alone) alone.push_back(row_as_conditions(table, row));
    if (worst != nullptr && std::abs(worst->off()) > kMatchedWithin)
      off.push_back(fmt::format("{} {:+.1f} % ({:.0f} beside {:.0f})", row_as_conditions(table, row), 100 * worst->off(),
                                worst->own * unit, worst->reference * unit));
  }
  const auto not_compared =
      alone.empty() ? "" : fmt::format("not compared, since their reference has not run: {}", fmt::join(alone, "; "));
  if (!is_any)
    return alone.empty() ? "" : fmt::format("{} as of {}, by {}: {}", match.text(), match.reference, match.width, not_compared);
  return fmt::format("{} within {:g} % of those of {}, by {}{}{}{}{}", match.text(), 100 * kMatchedWithin, match.reference,
                     match.width, off.empty() ? "" : ", but for: ", fmt::join(off, "; "), alone.empty() ? "" : "; ",
                     not_compared);
}

}  // namespace

std::vector<std::string> match_notes(const TableTrials& from, const NamedExperiments& experiments, const Table& table,
                                     const TableRequest& request) {
  std::vector<std::string> notes;
  for (const auto& [id, name] : experiments) {
    const auto match = request.matched_by ? request.matched_by(name) : std::nullopt;
    if (!match) continue;
    try {
      const auto shown = shown_of(id, from);
      if (shown.empty()) continue;
      const auto note = match_note({from.reader, id, *match, shown}, id, *match, from, table);
      if (!note.empty()) notes.push_back(experiments.size() > 1 ? fmt::format("{}: {}", name, note) : note);
    } catch (const Error& error) {
      notes.push_back(
          fmt::format("{} as of {}, by {}: not compared: {}", match->text(), match->reference, match->width, error.what()));
    }
  }
  return notes;
}

}  // namespace ablate::db
