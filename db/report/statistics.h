// Statistics: passes over a table that add numbers, columns and marks, or set how the table is shown. A new statistic needs its
// name in ABLATE_STATISTICS and a file db/report/statistics/NAME.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// Name of each statistic and of its file, in the order in which the statistics run.
// clang-format off
#define ABLATE_STATISTICS(statistic) \
  statistic(deviation)               \
  statistic(derive)                  \
  statistic(average)                 \
  statistic(interval)                \
  statistic(test)                    \
  statistic(against)                 \
  statistic(contrasts)               \
  statistic(longer)                  \
  statistic(exponent)                \
  statistic(ratio)                   \
  statistic(sort)                    \
  statistic(decimals)                \
  statistic(rename)                  \
  statistic(caption)                 \
  statistic(label)
// clang-format on

/// Pass over a table whose cells already have their samples.
struct Statistic {
  const char* option;  ///< "interval", without the dashes; "": the statistic always runs
  const char* value;   ///< name of the option's value, "OVERLAP"; "": no value
  bool repeated;       ///< true if the option may occur several times
  const char* help;
  const char* excludes;  ///< option of a statistic that excludes this one; "": none
  /// Returns what is wrong with a value, or ""; nullptr if run() throws instead.
  std::string (*refuse)(const std::string& value);
  /// Throws Error if the statistic has no meaning for the table. A fact is in all cells or in none, so statistics that add
  /// cells run before statistics that add facts.
  /// @param values values of the option
  /// @param table as the earlier statistics left it
  void (*run)(const std::vector<std::string>& values, Table& table);
  int each = 1;  ///< number of values after each use of the option
  /// Facts without values. Each cell gets them if the statistic does not run, so that CSV and JSON always have these columns.
  std::vector<Fact> blank = {};
};

namespace statistics {
#define ABLATE_STATISTIC(file) extern const Statistic file;
ABLATE_STATISTICS(ABLATE_STATISTIC)
#undef ABLATE_STATISTIC
}  // namespace statistics

const std::vector<const Statistic*>& all_statistics();

/// True if this value of --test chooses the t test.
bool is_t_test(const std::string& value);

/// Options on the command line, each with its values.
using AskedStatistics = std::map<std::string, std::vector<std::string>>;
/// Returns what is wrong with the combination of options, "OPTION: ...", or "".
std::string refusal_together(const AskedStatistics& asked);
/// Runs the statistics that always run, and the statistics whose options are present.
void run_statistics(const AskedStatistics& asked, Table& table);

/// Returns each column's number, or NaN. Throws Error unless the columns are the values of one parameter and at least two
/// different values are numbers above 0.
/// @param asked the option that needs these numbers, "--exponent"
std::vector<double> column_sizes(const Table& table, const std::string& asked);

}  // namespace ablate::db
