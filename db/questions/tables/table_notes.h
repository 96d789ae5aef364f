// Notes below a table, with cautions for the reader. Internal to db/.
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

/// Returns a note for each parameter that a cell averages over, because such an average is usually a mistake. Paths in `shown`
/// need no note. `cells` has the trials of each cell.
std::vector<std::string> average_notes(const std::vector<Axis>& varying, const std::vector<std::string>& shown,
                                       const std::vector<std::vector<std::size_t>>& cells);

/// Returns notes on left-out trials of earlier grids and of earlier code. `experiment` "": all experiments.
std::vector<std::string> left_out_notes(const Selection& selection, const std::string& experiment);

/// Returns a line for each proof (`--prove`) on which trials of the table rest. The line has the number of these trials,
/// and the attempts that were repeated.
std::vector<std::string> proof_notes(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// Returns a note that counts the unsettled cells and explains "unsettled".
std::vector<std::string> settling_notes(const Table& table);

/// Returns a note if the table has scores of trained models, and no trial was repeated with more steps.
std::vector<std::string> longer_notes(const Table& table);

/// Returns the options by which a command finds a task's libraries and this history.
std::string task_options(SQLite::Database& database, const std::string& task, const TableRequest& request);

/// Returns a line for each of the trials' data sets that failed its audit: the task, findings, and the command that shows all
/// findings. Ignores audits of a suite version other than the request's, and trials whose key parts are not known.
std::vector<std::string> audit_notes(const Reader& reader, const std::vector<SelectedTrial>& trials,
                                     const TableRequest& request);

/// Returns a note for each experiment that matches widths (TableRequest::matched_by). A note names rows whose recorded numbers
/// differ from the reference by more than kMatchedWithin, and rows whose reference has not run. Each trial is compared with the
/// reference's trial that agrees in all parameters that vary among the reference's trials. Without numbers, no note.
std::vector<std::string> match_notes(const TableTrials& from, const NamedExperiments& experiments, const Table& table,
                                     const TableRequest& request);

/// Returns notes for a table over done trials:
/// - "measured on 2 machines, whose costs are not comparable: HOST (PROCESSOR), ...", if any metric is a cost;
/// - "computed in 2 environments, whose numbers may differ: FIELD = VALUE / VALUE (12 / 6 trials); ...". Fields: processor
///   (unless all metrics are costs and the first note names it), cpu_capability, kernels (instructions of the fused forms),
///   torch, libraries, variables except OpenMP's; kernels_bfloat16 for trials of mixed products; gpus and gpu_driver on a GPU.
///   Fields that an environment does not record are ignored. A trial that resumed from another environment's checkpoint
///   counts in both environments;
/// - "seeds of one row computed by different instructions: ROW (VALUE / VALUE), ...", by cpu_capability, kernels and
///   kernels_bfloat16, because the instructions then contribute to a deviation over seeds.
std::vector<std::string> environment_notes(const TableTrials& from, const Table& table);

/// Returns a note for each file from which trials were imported, in the trials' order; empty if all trials ran here.
std::vector<std::string> import_notes(const Reader& reader, const std::vector<SelectedTrial>& trials);

/// Returns notes for each test split, or part of a split, that trials of the table use (Cell::tasks). Notes state the floors of
/// the task's main metric and the number of rows that are no better. If floors are missing, the note names the command that
/// finds the floors. One note states the sampling error of a proportion of correct targets over the test examples. Ignores
/// floors of a version other than the request's, and trials whose data are not known. Needs the cells' samples and tasks. Fills
/// the cells' `floor`.
/// @param varying axes that vary among the trials
std::vector<std::string> floor_notes(const TableTrials& from, const std::vector<Axis>& varying, Table& table,
                                     const TableRequest& request);

/// The conformance suite's verdicts on the plugins behind a table's numbers.
struct TableVerdicts {
  std::vector<Checked> of_trial;                     ///< worst verdict of the trial's plugins
  using Name = std::pair<std::string, std::string>;  ///< kind and id
  std::map<Name, std::string> failed;                ///< names of the failed checks, "padding, gradient"
  std::set<Name> unchecked;                          ///< plugins that were never checked
  /// Plugins that were used at longer sequences than the suite checked: first the shortest length up to which they were
  /// checked, then the longest length at which they were used.
  std::map<Name, std::pair<std::int64_t, std::int64_t>> beyond;
  std::set<std::filesystem::path> libraries;  ///< libraries of all these plugins, at the paths where they ran
};

/// @param today TableRequest::verdict_today
TableVerdicts load_verdicts(const Reader& reader, const std::vector<SelectedTrial>& trials,
                            const decltype(TableRequest::verdict_today)& today);

/// Fills `checked` of all table.cells.
void fill_checked(const TableTrials& from, const TableVerdicts& verdicts, Table& table);

/// Returns notes on the meaning of row marks, the plugins concerned and the remedy: at most one line per mark.
/// If `any_checked` (Table::any_checked), unchecked rows are marked. `options`: TableRequest::check_options.
std::vector<std::string> verdict_notes(const TableVerdicts& verdicts, bool any_checked,
                                       const decltype(TableRequest::check_options)& options);

}  // namespace ablate::db
