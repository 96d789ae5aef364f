#include "db/questions/table_notes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "core/util/plain_json.h"
#include "core/util/shell_word.h"
#include "db/history/audits.h"
#include "db/history/schema.h"
#include "db/history/stored_json.h"
#include "db/questions/settling.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

using nlohmann::json;
using SQLite::Statement;

/// (digest, task) of what failed.
std::vector<std::pair<std::string, std::string>> failed_audits(SQLite::Database& database, std::int64_t suite) {
  std::vector<std::pair<std::string, std::string>> failed;
  Statement ask(database, "SELECT digest, task FROM audit WHERE verdict = 'failed' AND suite = ? ORDER BY task, digest");
  ask.bind(1, suite);
  while (ask.executeStep()) failed.emplace_back(ask.getColumn(0).getString(), ask.getColumn(1).getString());
  return failed;
}

/// Those of the digests that are of these trials' data.
std::set<std::string> digests_of(SQLite::Database& database, const std::vector<SelectedTrial>& trials,
                                 const std::set<std::string>& digests) {
  std::map<std::int64_t, std::string> bases;
  Statement ask_bases(database, "SELECT id, json FROM basis");
  while (ask_bases.executeStep()) {
    const auto basis = stored_json(ask_bases.getColumn(1).getString());
    if (!basis.is_object() || !basis.contains("data") || !basis.at("data").is_string()) continue;
    if (auto digest = basis.at("data").get<std::string>(); digests.contains(digest))
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

/// The libraries of the task, where they ran.
std::set<std::filesystem::path> libraries_of(SQLite::Database& database, const std::string& task) {
  std::set<std::filesystem::path> libraries;
  Statement ask(database, "SELECT path FROM plugin WHERE kind = 'task' AND name = ?");
  ask.bind(1, task);
  while (ask.executeStep()) libraries.insert(ask.getColumn(0).getString());
  return libraries;
}

std::string text_of(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

/// "label at a position, one rule (train, 2000 of 4000 examples: ...)": what failed, each once, and the first in its words.
std::string found_text(const json& findings) {
  std::vector<std::string> names;
  std::string first;
  for (const auto& finding : findings) {
    if (!finding.is_object() || text_of(finding, "verdict") != "failed") continue;
    const auto name = text_of(finding, "check");
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    if (names.size() == 1 && first.empty()) first = text_of(finding, "found");
  }
  return one_row(fmt::format("{}{}", fmt::join(names, ", "), first.empty() ? "" : ": " + first));
}

std::string note_of(const Audit& audit, const std::string& options) {
  std::string set;
  for (const auto& [name, value] : audit.parameters.items()) {
    const auto text = value.is_string() ? value.get<std::string>() : plain_json(value);
    set += " --set " + shell_word(name + "=" + text);
  }
  return fmt::format("the data of {} fail an audit: {}; `ablate audit {}{}{}` shows all", one_row(audit.task),
                     found_text(audit.findings), shell_word(audit.task), set, options);
}

}  // namespace

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
      const auto where = request.check_options ? request.check_options(libraries_of(database, task)) : "";
      notes.push_back(note_of(*audit, where + request.database_option));
    }
    return notes;
  });
}

}  // namespace ablate::db
