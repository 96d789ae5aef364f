#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/util/error.h"
#include "db/report/statistics.h"
#include "db/report/summary.h"

namespace ablate::db {
namespace {

constexpr const char* kAverage = "average";

void add_failure(const Cell::Failure& failure, std::vector<Cell::Failure>& to) {
  const auto at = std::find_if(to.begin(), to.end(), [&](const auto& one) { return one.outcome == failure.outcome; });
  if (at == to.end()) return to.push_back(failure);
  at->other_reasons += failure.other_reasons + (failure.reason == at->reason ? 0 : failure.count - failure.other_reasons);
  at->count += failure.count;
}

/// Mean over a row's cells of a metric; computed for each seed if all cells have the same seeds.
class AverageOf {
 public:
  /// @param cells at least one
  explicit AverageOf(const std::vector<const Cell*>& cells) : cells_(cells) {
    average_.settings = 1, average_.published = 0;
    for (const auto* cell : cells) {
      average_.trials += cell->trials;
      average_.trial_ids.insert(average_.trial_ids.end(), cell->trial_ids.begin(), cell->trial_ids.end());
      average_.tasks.insert(cell->tasks.begin(), cell->tasks.end());
      average_.settings = std::max(average_.settings, cell->settings);
      average_.checked = std::max(average_.checked, cell->checked);
      average_.unsettled = average_.unsettled || cell->unsettled;
      average_.published += cell->published / static_cast<double>(cells.size());
      for (const auto& failure : cell->failures) add_failure(failure, average_.failures);
    }
    if (!take_seeds()) take_means();
  }

  /// True if the row has a number in each column. Otherwise its average has only the published value.
  bool is_whole() const {
    return std::all_of(cells_.begin(), cells_.end(), [](const auto* cell) { return cell->n > 0; });
  }
  Cell take() && {
    if (is_whole()) return std::move(average_);
    Cell none;
    none.published = average_.published;
    return none;
  }

 private:
  bool take_seeds() {
    std::vector<Sample> all;
    for (std::size_t column = 0; column < cells_.size(); ++column) {
      const auto seeds = seed_means(cells_[column]->samples, cells_[column]->settings);
      if (!seeds || seeds->empty()) return false;  // the cell has no means by seed
      for (const auto& sample : *seeds) all.push_back({sample.seed, sample.value, 0, column});
    }
    auto means = seed_means(all, static_cast<int>(cells_.size()));
    if (!means) return false;
    average_.samples = std::move(*means);
    const auto summary = summary_of(average_.samples);
    average_.n = summary.n, average_.mean = summary.mean, average_.deviation = average_.uncertainty = summary.deviation;
    return true;
  }

  void take_means() {
    average_.mean = 0, average_.n = cells_.front()->n;
    for (const auto* cell : cells_) {
      average_.mean += cell->mean / static_cast<double>(cells_.size());
      average_.n = std::min(average_.n, cell->n);
    }
  }

  const std::vector<const Cell*>& cells_;
  Cell average_;
};

/// Inserts make(i) after group i of `width` values.
template <class T, class Make>
void widen(std::vector<T>& values, std::size_t width, const Make& make) {
  std::vector<T> all;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.push_back(std::move(values[i]));
    if ((i + 1) % width == 0) all.push_back(make(i / width));
  }
  values = std::move(all);
}

void add_average(const std::vector<std::string>&, Table& table) {
  const auto width = table.columns.size();
  if (table.column_paths.empty() || width < 2)
    throw Error(fmt::format("--average: found {} column{}, expected several to average over; --cols makes them", width,
                            width == 1 ? "" : "s"));
  std::vector<Cell> averages;
  bool any_incomplete = false, any_of_means = false, any_seeds = false;
  for (std::size_t r = 0; r < table.rows.size(); ++r)
    for (std::size_t m = 0; m < table.metrics.size(); ++m) {
      std::vector<const Cell*> cells;
      for (std::size_t c = 0; c < width; ++c) cells.push_back(&table.cell(r, m, c));
      auto average = AverageOf(cells);
      any_incomplete = any_incomplete || !average.is_whole();
      averages.push_back(std::move(average).take());
      for (const auto& sample : averages.back().samples) any_seeds = any_seeds || sample.seed.has_value();
      const bool any_seeds_lost = std::any_of(cells.begin(), cells.end(), [](const auto* cell) { return cell->n > 1; });
      any_of_means = any_of_means || (any_seeds_lost && averages.back().n > 0 && averages.back().samples.empty());
    }
  widen(table.cells, width, [&](std::size_t i) { return averages[i]; });
  if (const auto tuned = table.tuned_paths.size(); tuned > 0) {
    std::vector<Chosen> chosen;
    for (std::size_t r = 0; r < table.rows.size(); ++r) {
      for (std::size_t i = 0; i < width * tuned; ++i) chosen.push_back(std::move(table.chosen[r * width * tuned + i]));
      chosen.resize(chosen.size() + tuned);
    }
    table.chosen = std::move(chosen);
  }
  table.columns.emplace_back(table.column_paths.size(), kAbsent).front() = kAverage;
  table.column_values.emplace_back(table.column_paths.size()).front() = kAverage;
  table.average = true;
  table.notes.push_back(
      fmt::format("average: the mean over the columns{}", any_of_means || !any_seeds ? "" : ", of each seed"));
  if (any_of_means)
    table.notes.emplace_back(
        "average: rows have no deviation if their columns, or the settings of a column, have different seeds");
  if (any_incomplete) table.notes.emplace_back("average: rows that lack a number in a column have no average");
}

}  // namespace

const Statistic statistics::average{"average",  "",      false,      "a last column: the mean over the other columns",
                                    "exponent", nullptr, add_average};

}  // namespace ablate::db
