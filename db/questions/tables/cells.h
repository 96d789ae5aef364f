// Content of a table's cells. Internal to db/.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "db/questions/selection/selection.h"
#include "db/types/table.h"

namespace ablate::db {

/// The trials of a table's rows and columns, with their values.
struct TableTrials {
  const Reader& reader;
  const std::vector<SelectedTrial>& trials;
  std::vector<Reader::StoredMetric> metrics;
  std::vector<Members> members;                             ///< trials of each cell, row by row
  std::vector<std::vector<std::optional<double>>> results;  ///< [metric][trial]
  std::vector<std::optional<std::int64_t>> seeds;           ///< by trial
};

/// Fills table.cells, after rows, columns and metrics: samples, failures, and for step times whether they are settled.
void fill_cells(const TableTrials& from, Table& table);

/// Returns a metric's index into table.cells. `row_and_column` is an index into TableTrials::members.
std::size_t index_of(const Table& table, std::size_t row_and_column, std::size_t metric);

/// Returns the names of the metrics that judge the trials (Table::judges).
std::set<std::string> judges_of(const TableTrials& from);

/// Fills longer and longer_trials of all cells, and table.has_longer. `longer`: longer trials of the table's experiments.
void fill_longer(const TableTrials& from, const std::vector<SelectedTrial>& longer, Table& table);

/// Fills `published` of all cells and of the table from the experiment's study. For the whole history, the latest study with
/// values counts. Adds notes on the sources. Runs after fill_settings. `varying` are the axes that vary among the trials.
void fill_published(const TableTrials& from, const std::vector<Axis>& varying, Table& table);

/// Fills `settings` of all cells and of their samples, and `varied` of the table: what differs between trials of one setting.
/// @param varying axes that vary among the trials
void fill_settings(const TableTrials& from, const std::vector<Axis>& varying, Table& table);

/// Fills `tasks` of all cells. `varying` are the axes that vary among the trials.
void fill_tasks(const TableTrials& from, const std::vector<Axis>& varying, Table& table);

/// Step times are settled if they spread by at most this percentage, and if kLeastComputing is met.
inline constexpr double kMostSpread = 10;
/// A trial on the CPU with one thread (train.threads) must compute for at least this part of a step's time. Otherwise its only
/// thread waited for a processor.
inline constexpr double kLeastComputing = 0.9;

}  // namespace ablate::db
