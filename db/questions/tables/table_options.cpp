#include "db/questions/tables/table_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/util/plain_text.h"

namespace ablate::db {
namespace {

std::vector<TableOption> all_options() {
  std::vector<TableOption> all = {
      {"rows", "PATH",
       "parameters that make the rows, separated by commas; '!PATH': all varying parameters except this one; share(ATTENTION): "
       "the share of layers with this attention; default: all varying parameters except the seed",
       "", true, true, 1, empty_refusal},
      {"cols", "PATH", "parameters that make the columns, separated by commas; default: the task, if it varies", "", true, true,
       1, empty_refusal},
      {"metric", "NAME", "metrics, separated by commas, with a group of columns each; default: the main metric of the trials",
       "", true, true, 1, empty_refusal},
      {"published", "", "shows papers' values for the same trials beside every column (a study's [[published]])"},
      {"where", "CONDITION",
       "only trials that meet the condition: 'task=image', 'attention=softmax,local', 'attention.rates=1/16..1/4', "
       "'task.length>=512', "
       "'attention!=softmax'; if repeated, trials must meet all conditions",
       "", true, false, 1, empty_refusal},
  };
  for (const auto* statistic : all_statistics())
    if (*statistic->option != '\0')
      all.push_back({statistic->option, statistic->value, statistic->help, statistic->excludes, statistic->repeated, false,
                     statistic->each, statistic->refuse});
  return all;
}

}  // namespace

const std::vector<TableOption>& table_options() {
  static const auto all = all_options();
  return all;
}

const TableOption* find_table_option(const std::string& name) {
  const auto& all = table_options();
  const auto at = std::find_if(all.begin(), all.end(), [&](const TableOption& option) { return option.name == name; });
  return at == all.end() ? nullptr : &*at;
}

std::string stands_already(std::map<std::string, std::string>& seen, const std::string& option, const std::string& name,
                           const char* what) {
  const auto [at, is_new] = seen.try_emplace(name, option);
  return is_new ? "" : fmt::format("{}: {} is in {} already, expected each {} once", option, name, at->second, what);
}

void ask(TableRequest& request, const std::string& option, const std::vector<std::string>& values) {
  if (option == "rows")
    request.rows = values;
  else if (option == "cols")
    request.columns = values;
  else if (option == "metric")
    request.metrics = values;
  else if (option == "where")
    request.where = values;
  else if (option == "published")
    request.published = true;
  else
    request.statistics[option] = values;
}

}  // namespace ablate::db
