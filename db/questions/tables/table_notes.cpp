#include "db/questions/tables/table_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>

#include "core/records/setting_paths.h"
#include "core/util/error.h"
#include "core/util/plain_json.h"
#include "core/util/row_conditions.h"
#include "core/util/shell_word.h"
#include "db/history/audits.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/selection/conditions.h"
#include "db/questions/tables/cells.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// Returns the digest and task of each failed audit.
std::vector<std::pair<std::string, std::string>> failed_audits(SQLite::Database& database, std::int64_t suite) {
  std::vector<std::pair<std::string, std::string>> failed;
  Statement ask(database, "SELECT digest, task FROM audit WHERE verdict = 'failed' AND suite = ? ORDER BY task, digest");
  ask.bind(1, suite);
  while (ask.executeStep()) failed.emplace_back(ask.getColumn(0).getString(), ask.getColumn(1).getString());
  return failed;
}

/// Returns the subset of `digests` that these trials' data have.
std::set<std::string> digests_of(SQLite::Database& database, const std::vector<SelectedTrial>& trials,
                                 const std::set<std::string>& digests) {
  std::map<std::int64_t, std::string> bases;
  Statement ask_bases(database, "SELECT id, json FROM basis");
  while (ask_bases.executeStep()) {
    const auto basis = stored_json(ask_bases.getColumn(1).getString());
    if (auto digest = text_at(basis, "data"); digests.contains(digest))
      bases.emplace(ask_bases.getColumn(0).getInt64(), std::move(digest));
  }
  std::set<std::string> found;
  if (bases.empty()) return found;
  std::unordered_set<std::int64_t> ids;
  for (const auto& trial : trials) ids.insert(trial.id);
  Statement ask(database, "SELECT trial, basis FROM key_part");
  while (found.size() < digests.size() && ask.executeStep())
    if (const auto basis = bases.find(ask.getColumn(1).getInt64());
        basis != bases.end() && ids.contains(ask.getColumn(0).getInt64()))
      found.insert(basis->second);
  return found;
}

/// Returns the distinct failed checks, with the first finding's text: "label at a position, one rule (train, 2000 of 4000
/// examples: ...)".
std::string found_text(const json& findings) {
  std::vector<std::string> names;
  std::string first;
  for (const auto& finding : findings) {
    if (text_at(finding, "verdict") != "failed") continue;
    const auto name = text_at(finding, "check");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (names.size() == 1 && first.empty()) first = text_at(finding, "found");
  }
  return one_row(fmt::format("{}{}", fmt::join(names, ", "), first.empty() ? "" : ": " + first));
}

std::string note_of(const Audit& audit, const std::string& options) {
  std::string set;
  for (const auto& [name, value] : audit.parameters.items()) {
    const auto text = value.is_string() ? value.get<std::string>() : plain_json(value);
    set += " --set " + shell_word(name + "=" + text);
  }
  return fmt::format("the data of {} fail an audit: {}; `ablate audit {}{}{}` shows all findings", one_row(audit.task),
                     found_text(audit.findings), shell_word(audit.task), set, options);
}

struct Sizes {
  double own, reference;  ///< recorded sizes
  double off() const { return (own - reference) / reference; }
};

/// Returns the conditions in the form of tables: attention.rates=["1/2", "1/4"] becomes attention.rates=1/2,1/4.
std::vector<std::string> conditions_of(const std::string& reference) {
  auto conditions = row_conditions(reference);
  for (auto& condition : conditions)
    if (condition.find("=[") != std::string::npos)
      std::erase_if(condition, [](char c) { return c == '[' || c == ']' || c == '"' || c == ' '; });
  return conditions;
}

/// Returns the reference's trials that the table shows: dev may have chosen them. If the table shows none of them, returns all
/// trials of the reference in the experiment. Throws Error if the experiment has none of them.
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

/// Sizes of one experiment's trials, with the sizes of their references.
class MatchedTrials {
 public:
  /// Throws Error if the history has no reference, or if no trial has the number to match. `shown`: trials of the experiment.
  MatchedTrials(const Reader& reader, std::int64_t experiment, const StudyMatch& match,
                const std::vector<SelectedTrial>& shown) {
    auto all = references_of(reader, experiment, match, shown);
    const auto references = all.size();
    std::vector<std::string> paths;  // parameters in which references differ
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

  /// Returns nullptr for a reference, and if the trial or its reference has no number.
  const Sizes* find(std::int64_t trial) const {
    const auto found = sizes_.find(trial);
    return found == sizes_.end() ? nullptr : &found->second;
  }

  /// True if the trial has a number, but its reference has not run.
  bool is_alone(std::int64_t trial) const { return alone_.contains(trial); }

 private:
  std::set<std::int64_t> references_, alone_;
  std::map<std::int64_t, Sizes> sizes_;
};

/// Returns "attention=adamra model.hidden=37".
std::string row_as_conditions(const Table& table, std::size_t row) {
  std::string text;
  for (std::size_t p = 0; p < table.row_paths.size(); ++p)
    if (table.rows[row][p] != kAbsent)
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", table.row_paths[p], table.rows[row][p]);
  return text.empty() ? "the only row" : text;
}

/// Returns the experiment's trials that the table shows.
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
      off.push_back(fmt::format("{} {:+.1f} % ({:.0f} instead of {:.0f})", row_as_conditions(table, row), 100 * worst->off(),
                                worst->own * unit, worst->reference * unit));
  }
  const auto not_compared =
      alone.empty() ? "" : fmt::format("not compared, because their reference has not run: {}", fmt::join(alone, "; "));
  if (!is_any)
    return alone.empty() ? "" : fmt::format("{} as in {}, by {}: {}", match.text(), match.reference, match.width, not_compared);
  return fmt::format("{} matched within {:g} % to {}, by {}{}{}{}{}", match.text(), 100 * kMatchedWithin, match.reference,
                     match.width, off.empty() ? "" : ", except: ", fmt::join(off, "; "), alone.empty() ? "" : "; ",
                     not_compared);
}

}  // namespace

std::string task_options(SQLite::Database& database, const std::string& task, const TableRequest& request) {
  std::set<std::filesystem::path> libraries;
  Statement ask(database, "SELECT path FROM plugin WHERE kind = 'task' AND name = ?");
  ask.bind(1, task);
  while (ask.executeStep()) libraries.insert(ask.getColumn(0).getString());
  return (request.check_options ? request.check_options(libraries) : "") + request.database_option;
}

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
    notes.push_back(fmt::format("{} of earlier grids {} left out; `ablate attempts {}` shows all trials that ran",
                                selection.earlier == 1 ? "1 trial" : fmt::format("{} trials", selection.earlier),
                                selection.earlier == 1 ? "is" : "are", shell_word(experiment)));
  if (const auto again = selection.superseded - selection.superseded_imports; again > 0)
    notes.push_back(fmt::format(
        "{} earlier trial{} left out: a plugin, the data or ablate changed, and later trials have the same settings", again,
        again == 1 ? " is" : "s are"));
  if (const auto imports = selection.superseded_imports; imports > 0)
    notes.push_back(fmt::format("{} imported trial{} left out: later trials have the same parameters and seeds", imports,
                                imports == 1 ? " is" : "s are"));
  return notes;
}

std::vector<std::string> proof_notes(const Reader& reader, const std::vector<SelectedTrial>& trials) {
  return guarded(reader.file(), [&] {
    std::unordered_set<std::int64_t> shown;
    for (const auto& trial : trials) shown.insert(trial.id);
    Statement ask(reader.database(),
                  "SELECT DISTINCT l.trial, format('proof %d (%s; the same to the last bit, repeated: attempts %s)', p.id, "
                  "date(p.proven_us / 1000000, 'unixepoch'), coalesce((SELECT group_concat(attempt, ', ') FROM proof_attempt "
                  "WHERE proof = p.id), 'that are deleted')) FROM alias l JOIN proof p ON p.id = l.proof");
    std::map<std::string, std::size_t> counts;
    while (ask.executeStep())
      if (shown.contains(ask.getColumn(0).getInt64())) ++counts[ask.getColumn(1).getString()];
    std::vector<std::string> notes;
    for (const auto& [proof, count] : counts)
      notes.push_back(fmt::format("{} under earlier code and {} because of {}",
                                  count == 1 ? "1 trial ran" : fmt::format("{} trials ran", count),
                                  count == 1 ? "counts" : "count", proof));
    return notes;
  });
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

std::vector<std::string> audit_notes(const Reader& reader, const std::vector<SelectedTrial>& trials,
                                     const TableRequest& request) {
  return guarded(reader.file(), [&] {
    auto& database = reader.database();
    std::vector<std::string> notes;
    const auto failed = failed_audits(database, request.suite);
    if (failed.empty()) return notes;
    std::set<std::string> digests;
    for (const auto& [digest, task] : failed) digests.insert(digest);
    const auto here = digests_of(database, trials, digests);
    for (const auto& [digest, task] : failed) {
      const auto audit = here.contains(digest) ? find_audit(database, digest, task) : std::nullopt;
      if (!audit) continue;
      notes.push_back(note_of(*audit, task_options(database, task, request)));
    }
    return notes;
  });
}

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
          fmt::format("{} as in {}, by {}: not compared: {}", match->text(), match->reference, match->width, error.what()));
    }
  }
  return notes;
}

}  // namespace ablate::db
