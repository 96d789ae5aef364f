#include "core/host/launch/check_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/host/study/diagnostics.h"
#include "core/records/setting_paths.h"
#include "core/util/nearest.h"
#include "db/questions/table_options.h"

namespace ablate {
namespace {

/// The parameters of a study's trials, as tables name them.
std::vector<std::string> paths_of(const Study& study) {
  std::set<std::string> paths = {section::kAttention, "experiment"};
  std::vector<Unseen> are_new;
  for (const auto section : kAllSections) are_new.emplace_back(std::vector{section});
  for (const auto& trial : study.trials) {
    bool is_new = false;
    for (auto& of_section : are_new) is_new = of_section(trial.sections) || is_new;
    if (!is_new) continue;
    for (const auto& [path, unused] : flatten(trial.resolved())) paths.insert(path);
  }
  return {paths.begin(), paths.end()};
}

class Check {
 public:
  explicit Check(const Study& study) : study_(study) {
    for (const auto& option : db::table_options()) names_.push_back(option.name);
    for (const auto& table : study.tables)
      for (const auto& asked : table.asked) check(table, asked);
    if (!wrong_.empty()) throw ConfigError(wrong_.sorted());
  }

 private:
  void refuse(const Location& where, const std::string& message) { wrong_.add(where, message); }

  void check(const NamedTable& table, const NamedTable::Asked& asked) {
    const auto* option = db::find_table_option(asked.option);
    if (option == nullptr)
      return refuse(asked.key,
                    fmt::format("unknown key {} in [table.{}]{}", asked.option, table.name, suggestion(asked.option, names_)));
    if (option->is_flag() != asked.is_set)
      return refuse(asked.where, option->is_flag() ? fmt::format("{}: expected true", asked.option)
                                                   : fmt::format("{} = true: expected {}", asked.option, option->value));
    if (!option->is_flag()) check_values(*option, asked);
    for (const auto& other : table.asked)
      if (other.option == option->excludes)
        refuse(asked.key, fmt::format("{} and {} cannot stand in one table", asked.option, other.option));
  }

  void check_values(const db::TableOption& option, const NamedTable::Asked& asked) {
    if (!option.repeated && asked.values.size() > 1)
      return refuse(asked.where, fmt::format("{}: found {} values, expected one", asked.option, asked.values.size()));
    for (const int together : asked.each)
      if (together != option.each)
        return refuse(asked.where, option.each == 1
                                       ? fmt::format("{}: found a list within the list", asked.option)
                                       : fmt::format("{}: expected a list of pairs, [[\"ROW\", \"ROW\"], ...]", asked.option));
    for (std::size_t i = 0; i < asked.values.size(); ++i) {
      const auto& value = asked.values[i];
      if (option.commas && value.find(',') != std::string::npos) {
        refuse(asked.locations[i], fmt::format("{} = {}: found a comma, expected a list: [\"A\", \"B\"]", asked.option, value));
        continue;
      }
      if (option.refuse != nullptr)
        if (const auto why = option.refuse(value); !why.empty())
          refuse(asked.locations[i], fmt::format("{} = {}: {}", asked.option, value, why));
      if (option.name == "rows" || option.name == "cols") check_path(asked, i);
    }
  }

  void check_path(const NamedTable::Asked& asked, std::size_t i) {
    auto path = asked.values[i];
    if (path.starts_with('!')) path.erase(0, 1);
    if (path.find('(') != std::string::npos) return;  // share(softmax)
    if (known_.empty()) known_ = paths_of(study_);
    if (path = history_path(path); std::find(known_.begin(), known_.end(), path) == known_.end())
      refuse(asked.locations[i],
             fmt::format("{}: no trial of this study has a parameter {}{}", asked.option, path, hint(path, known_)));
  }

  const Study& study_;
  std::vector<std::string> names_;
  std::vector<std::string> known_;  ///< paths; empty: not asked yet
  Diagnostics wrong_;
};

}  // namespace

void check_tables(const Study& study) { Check{study}; }

}  // namespace ablate
