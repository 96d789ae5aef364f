#include "db/report/column_sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <set>

#include "core/util/error.h"

namespace ablate::db {

std::vector<double> column_sizes(const Table& table, const std::string& asked) {
  std::vector<double> sizes;
  std::set<double> distinct;
  for (const auto& value : table.column_values) {
    sizes.push_back(value.size() == 1 && value.front().is_number() ? value.front().get<double>()
                                                                   : std::numeric_limits<double>::quiet_NaN());
    if (sizes.back() > 0) distinct.insert(sizes.back());
  }
  if (table.column_paths.size() != 1 || distinct.size() < 2)
    throw Error(fmt::format(
        "{}: the columns are {}, expected one parameter with at least two numbers above 0, as in --cols task.length", asked,
        table.column_paths.empty() ? "none" : fmt::format("{}", fmt::join(table.column_paths, ", "))));
  return sizes;
}

}  // namespace ablate::db
