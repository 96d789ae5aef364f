// What a reader must know to read a table right. Internal to db/.
#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/questions/selection/selection.h"
#include "db/questions/selection/table_axes.h"
#include "db/questions/tables/cells.h"
#include "db/questions/tables/make_table.h"
#include "db/types/table.h"

namespace ablate::db {

/// Averages over something that is no seed are most often a mistake.
/// @param shown paths that need no word; @param cells their trials
std::vector<std::string> average_notes(const std::vector<Axis>& varying, const std::vector<std::string>& shown,
                                       const std::vector<std::vector<std::size_t>>& cells);

/// Trials of earlier grids and of earlier code. @param experiment "": all
std::vector<std::string> left_out_notes(const Selection& selection, const std::string& experiment);

/// Returns a line for each proof (`--prove`) by which trials of the table count: the number of these trials, and the attempts
/// that were repeated.
std::vector<std::string> proof_notes(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// How many cells are unsettled, and what that means.
std::vector<std::string> settling_notes(const Table& table);

/// Returns options by which a command finds a task, in the libraries where it ran, and this history.
std::string task_options(SQLite::Database& database, const std::string& task, const TableRequest& request);

/// A line for each data set of the trials whose audit failed: the task, what was found, and the command that shows all. Audits
/// of another suite than the request's do not count, and neither do trials whose keys' parts are not known.
std::vector<std::string> audit_notes(const Reader& reader, const std::vector<SelectedTrial>& trials,
                                     const TableRequest& request);

/// For each experiment that matches something (TableRequest::matched_by) one that says so, and names rows that are further off
/// than kMatchedWithin, by what their trials recorded. A trial is compared with one that has the reference's settings and
/// agrees with it in all that varies among those. None where nothing was recorded on one of the two sides.
std::vector<std::string> match_notes(const TableTrials& from, const NamedExperiments& experiments, const Table& table,
                                     const TableRequest& request);

/// Notes for a table over trials that are done:
/// - "measured on 2 machines, whose costs do not compare: HOST (PROCESSOR), ...", where any of the metrics is a cost;
/// - "computed in 2 environments, whose numbers may differ: FIELD = VALUE / VALUE (12 / 6 trials); ...": processor (not where
///   all metrics are costs and the first note names it), cpu_capability, kernels (the fused forms' instructions), torch,
///   libraries, variables except those of OpenMP, for trials of mixed products kernels_bfloat16, and on a GPU gpus and
///   gpu_driver. What an environment does not record does not count, and a trial that went on from another environment's
///   checkpoint counts in both;
/// - "seeds of one row computed by different instructions: ROW (VALUE / VALUE), ...", by cpu_capability, kernels and
///   kernels_bfloat16: there a deviation over seeds holds some of theirs.
std::vector<std::string> environment_notes(const TableTrials& from, const Table& table);

/// A note for each file that trials were imported from, in the trials' order; none where all ran here.
std::vector<std::string> import_notes(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// For each test split, or part of it, that trials of the table are asked (Cell::tasks): the floors of the metric that its task
/// is judged by, and how many rows are no better; or, where none are known, the command that finds them. And once, how far a
/// proportion over so many test examples is uncertain by itself. Floors of another version than the request's do not count, nor
/// do trials whose keys' parts are not known. Needs samples and tasks of the cells.
/// @param varying what varies among the trials
std::vector<std::string> floor_notes(const TableTrials& from, const std::vector<Axis>& varying, const Table& table,
                                     const TableRequest& request);

/// What the conformance suite says of the plugins behind a table's numbers.
struct TableVerdicts {
  std::vector<Checked> of_trial;                     ///< the worst of its plugins
  using Name = std::pair<std::string, std::string>;  ///< kind and id
  std::map<Name, std::string> failed;                ///< with the names of the checks, "padding, gradient"
  std::set<Name> unchecked;                          ///< of those that nobody has looked at
  /// For plugins that were used at longer sequences than they were checked: the shortest length that they were checked up to,
  /// and the longest that they were used at.
  std::map<Name, std::pair<std::int64_t, std::int64_t>> beyond;
  std::set<std::filesystem::path> libraries;  ///< of all three, where they ran
};

/// @param today TableRequest::verdict_today
TableVerdicts load_verdicts(const Reader& reader, const std::vector<SelectedTrial>& trials,
                            const decltype(TableRequest::verdict_today)& today);

/// Fills checked of all table.cells.
void fill_checked(const TableTrials& from, const TableVerdicts& verdicts, Table& table);

/// What the marks of rows mean, which plugins they are about, and the remedy: at most one line a mark.
/// @param any_checked Table::any_checked: whether what was never checked is marked @param options TableRequest::check_options
std::vector<std::string> verdict_notes(const TableVerdicts& verdicts, bool any_checked,
                                       const decltype(TableRequest::check_options)& options);

}  // namespace ablate::db
