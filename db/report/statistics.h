// Statistics: passes over a table that add numbers, columns and marks, and say how it is shown. A new one is a line here and
// the file that it names, db/report/statistics/FILE.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// File and name of each, in the order in which they run.
// clang-format off
#define ABLATE_STATISTICS(statistic) \
  statistic(deviation)               \
  statistic(derive)                  \
  statistic(average)                 \
  statistic(interval)                \
  statistic(test)                    \
  statistic(against)                 \
  statistic(contrasts)               \
  statistic(exponent)                \
  statistic(ratio)                   \
  statistic(sort)                    \
  statistic(decimals)                \
  statistic(rename)                  \
  statistic(caption)                 \
  statistic(label)
// clang-format on

/// A pass over a table whose cells have their samples.
struct Statistic {
  const char* option;  ///< "interval", without the dashes; "": it always runs
  const char* value;   ///< the name of the option's value, "OVERLAP"; "": it takes none
  bool repeated;       ///< whether the option may stand several times
  const char* help;
  const char* excludes;  ///< the option of a statistic that it cannot be combined with; "": none
  /// What is wrong with a value, or ""; nullptr where run() throws instead.
  std::string (*refuse)(const std::string& value);
  /// @param values the option's @param table one that the earlier statistics have passed. Throws Error where the statistic has
  /// no meaning for it. A fact is in all cells or in none, so statistics that add cells run before statistics that add facts.
  void (*run)(const std::vector<std::string>& values, Table& table);
  int each = 1;  ///< values behind each use of the option
  /// Facts of each cell without values. Cells have them if the statistic does not run, so that CSV and JSON always have the
  /// same columns.
  std::vector<Fact> blank = {};
};

namespace statistics {
#define ABLATE_STATISTIC(file) extern const Statistic file;
ABLATE_STATISTICS(ABLATE_STATISTIC)
#undef ABLATE_STATISTIC
}  // namespace statistics

const std::vector<const Statistic*>& all_statistics();

/// True if a value of --test is the t test.
bool is_t_test(const std::string& value);

/// The options given, each with its values.
using AskedStatistics = std::map<std::string, std::vector<std::string>>;
/// Returns what is wrong with options together, "OPTION: ...", or "".
std::string refusal_together(const AskedStatistics& asked);
/// Runs the statistics that always run, and those whose options are given.
void run_statistics(const AskedStatistics& asked, Table& table);

/// Returns each column's number; NaN if it is no number. Throws Error if the columns are not one parameter with at least two
/// numbers above 0. @param asked the option that needs them, "--exponent"
std::vector<double> column_sizes(const Table& table, const std::string& asked);

}  // namespace ablate::db
