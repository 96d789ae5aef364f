// What the conformance suite says of the plugins behind a table's numbers. Internal to db/.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "db/questions/cells.h"
#include "db/questions/make_table.h"

namespace ablate::db {

struct TableVerdicts {
  std::vector<Checked> of_trial;                     ///< the worst of its plugins
  using Name = std::pair<std::string, std::string>;  ///< kind and id
  std::map<Name, std::string> failed;                ///< with the names of the checks, "padding, gradient"
  std::set<Name> unchecked;                          ///< of those that nobody has looked at
  /// For plugins that were used at longer sequences than they were checked: the shortest length that they were checked up to,
  /// and the longest that they were used at.
  std::map<Name, std::pair<std::int64_t, std::int64_t>> beyond;
  std::set<std::filesystem::path> libraries;  ///< of all three, where they ran
};

/// @param today TableRequest::verdict_today
TableVerdicts load_verdicts(const Reader& reader, const std::vector<SelectedTrial>& trials,
                            const decltype(TableRequest::verdict_today)& today);

/// Fills checked of all table.cells.
void fill_checked(const TableTrials& from, const TableVerdicts& verdicts, Table& table);

/// What the marks of rows mean, which plugins they are about, and the remedy: at most one line a mark.
/// @param any_checked Table::any_checked: whether what was never checked is marked @param options TableRequest::check_options
std::vector<std::string> verdict_notes(const TableVerdicts& verdicts, bool any_checked,
                                       const decltype(TableRequest::check_options)& options);

}  // namespace ablate::db
