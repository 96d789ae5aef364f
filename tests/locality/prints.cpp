// prints FORMAT STATISTIC: prints a table of two rows and two seeds.
#include <cstdio>

#include "db/report/printers.h"
#include "db/report/statistics.h"

using namespace ablate::db;

int main(int, char** arguments) {
  Table table{.experiments = {"study"}, .row_paths = {"attention"}, .rows = {{"softmax"}, {"linear"}}, .columns = {{}}};
  table.row_values = {{"softmax"}, {"linear"}};
  table.column_values = {{}};
  table.metrics = {{"test/accuracy", "%", "", ""}};
  table.trials = 4;
  for (const auto& [low, high] : {std::pair(70.0, 74.0), std::pair(64.0, 66.0)})
    table.cells.push_back({.trials = 2, .samples = {{1, low}, {2, high}}});
  run_statistics({{arguments[2], {}}}, table);
  std::fputs(to_text(table, format_from_name(arguments[1])).c_str(), stdout);
}
