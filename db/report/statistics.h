// Statistics: passes over a table, which add numbers, columns and marks. A new one is a line here and the file that it names:
// db/report/statistics/FILE.cpp.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "db/types/table.h"

namespace ablate::db {

/// File and name, in the order in which they run.
// clang-format off
#define ABLATE_STATISTICS(statistic) \
  statistic(deviation)               \
  statistic(interval)                \
  statistic(best)                    \
  statistic(exponent)                \
  statistic(ratio)
// clang-format on

/// Of a table whose cells have their samples.
struct Statistic {
  const char* option;  ///< without the dashes, "interval"; "": always runs
  const char* value;   ///< what the option takes, "OVERLAP"; "": nothing
  bool repeated;       ///< the option may stand several times
  const char* help;
  const char* excludes;  ///< option of another statistic that cannot be asked for beside it; "": none
  /// "", or what is wrong with a value; nullptr: run() says it.
  std::string (*refuse)(const std::string& value);
  /// @param values of the option @param table whose earlier statistics have run. Throws Error where it has no meaning there
  void (*run)(const std::vector<std::string>& values, Table& table);
};

namespace statistics {
#define ABLATE_STATISTIC(file) extern const Statistic file;
ABLATE_STATISTICS(ABLATE_STATISTIC)
#undef ABLATE_STATISTIC
}  // namespace statistics

const std::vector<const Statistic*>& all_statistics();

/// Statistics that are asked for, by option, with their values.
using AskedStatistics = std::map<std::string, std::vector<std::string>>;
/// Runs those that always do, and those asked for.
void run_statistics(const AskedStatistics& asked, Table& table);

}  // namespace ablate::db
