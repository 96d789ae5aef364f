// What stands in the cells of a table. Internal to db/.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "db/questions/selection/selection.h"
#include "db/types/table.h"

namespace ablate::db {

/// The trials of a table's rows and columns, and what is known of them.
struct TableTrials {
  const Reader& reader;
  const std::vector<SelectedTrial>& trials;
  std::vector<Reader::StoredMetric> metrics;
  std::vector<Members> members;                             ///< [row][column]
  std::vector<std::vector<std::optional<double>>> results;  ///< [metric][trial]
  std::vector<std::optional<std::int64_t>> seeds;           ///< by trial
};

/// Fills table.cells, whose rows, columns and metrics are there: samples, failures with their
/// reasons, and of step times whether they are settled.
void fill_cells(const TableTrials& from, Table& table);

/// Of a row and column, row by row, and a metric: its place in table.cells.
std::size_t index_of(const Table& table, std::size_t row_and_column, std::size_t metric);

/// Fills published of all cells, and the table's, in the experiment's study or, of all of them, in the latest that says
/// something; and notes the sources. After fill_settings. @param varying what varies among the trials
void fill_published(const TableTrials& from, const std::vector<Axis>& varying, Table& table);

/// Fills settings of all cells and of their samples, and what varies between the seeds of one. @param varying what varies among
/// the trials
void fill_settings(const TableTrials& from, const std::vector<Axis>& varying, Table& table);

/// Fills tasks of all cells. @param varying what varies among the trials
void fill_tasks(const TableTrials& from, const std::vector<Axis>& varying, Table& table);

/// Steps are settled while their times spread by no more than this, %, and
inline constexpr double kMostSpread = 10;
/// while a trial on the CPU with one thread (train.threads) computes for at least this part of a step's time: else its only
/// thread waited for a processor.
inline constexpr double kLeastComputing = 0.9;

}  // namespace ablate::db
