#include "tools/ablate/questions/table_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/host/study/grid_match.h"
#include "core/host/study/longer.h"
#include "core/host/study/named_tables.h"
#include "core/shared/verdict_memory.h"
#include "core/shared/versions.h"
#include "core/util/error.h"
#include "core/util/nearest.h"
#include "core/util/shell_word.h"
#include "db/questions/tables/table_options.h"
#include "db/report/format.h"
#include "tools/ablate/plugin_options.h"
#include "tools/ablate/questions/questions.h"

namespace ablate {
namespace {

/// Returns the folders of --plugins; none for a program without that option.
std::vector<std::string> named_folders(const CLI::App* command) {
  const auto* option = command->get_parent() == nullptr ? nullptr : command->get_parent()->get_option_no_throw("--plugins");
  return option == nullptr ? std::vector<std::string>() : option->results();
}

struct Found {
  std::string experiment;
  NamedTable table;
};

/// Throws Error unless exactly one table matches.
Found find_table(const db::Reader& reader, const std::string& name, const std::vector<std::string>& experiments) {
  std::vector<Found> found;
  std::vector<std::string> known;
  for (const auto& experiment : experiments) {
    static_cast<void>(reader.experiment(experiment));  // throws if it does not exist
    for (auto& table : named_tables(reader.study_text(experiment), reader.study_file(experiment)))
      if (table.name == name)
        found.push_back({experiment, std::move(table)});
      else
        known.push_back(table.name);
  }
  const auto whose = fmt::format("{}", fmt::join(experiments, ", "));
  const auto is_imported = [&](const std::string& experiment) { return reader.study_text(experiment).empty(); };
  if (found.empty() && known.empty() && std::all_of(experiments.begin(), experiments.end(), is_imported))
    throw Error(fmt::format("--table {}: {} was imported without named tables; use --rows, --cols and --metric", name, whose));
  if (found.empty() && known.empty())
    throw Error(
        fmt::format("--table {}: the study of {} named no table when it ran last; write [table.{}] into it and `ablate run` it "
                    "again, which repeats no trial",
                    name, whose, name));
  if (found.empty()) throw Error(fmt::format("--table {}: no table of {} has this name{}", name, whose, hint(name, known)));
  if (found.size() > 1)
    throw Error(fmt::format("--table {}: found it in the studies of {} and {}, expected one study; name only its experiment",
                            name, found[0].experiment, found[1].experiment));
  return found.front();
}

}  // namespace

db::TableRequest usual_request(const CLI::App* command, const db::Reader& reader, const std::filesystem::path& database) {
  db::TableRequest request;
  request.verdict_today = [&reader](const UsedPlugin& plugin) { return verdict_today(reader, plugin); };
  request.matched_by = [&reader](const std::string& experiment) {
    return match_of(reader.study_text(experiment), reader.study_file(experiment), reader.study_overrides(experiment));
  };
  request.smallest_of = [&reader](const std::string& experiment) {
    return smallest_of(reader.study_text(experiment), reader.study_file(experiment), reader.study_overrides(experiment));
  };
  request.check_options = [command](const auto& libraries) { return plugin_options(named_folders(command), libraries); };
  if (const auto file = database.string(); file != kDefaultDatabase)  // another shell may have no ABLATE_DB
    request.database_option = " --db " + shell_word(file);
  request.suite = kSuiteVersion;
  request.floors_version = kFloorsVersion;
  return request;
}

void ask_as_named(const db::Reader& reader, const std::string& name,
                  const std::map<std::string, std::vector<std::string>>& instead, db::TableRequest& request) {
  const auto experiments = request.experiments.empty() ? reader.experiments() : request.experiments;
  const auto found = find_table(reader, name, experiments);
  const auto& options = db::table_options();
  const auto is_replaced = [&](const db::TableOption& option) {
    return std::any_of(options.begin(), options.end(), [&](const auto& other) {
      return instead.contains(other.name) &&
             (other.name == option.name || other.excludes == option.name || option.excludes == other.name);
    });
  };
  for (const auto& asked : found.table.asked) {
    const auto* option = db::find_table_option(asked.option);
    if (option == nullptr)  // an option of a later version of ablate
      throw Error(fmt::format("[table.{}] of {}: this ablate does not know {}", name, found.experiment, asked.option));
    if (is_replaced(*option)) continue;
    const bool fits = option->is_flag() == asked.is_set &&
                      std::all_of(asked.each.begin(), asked.each.end(), [&](int each) { return each == option->each; });
    if (!fits)
      throw Error(fmt::format("[table.{}] of {}: {} has another form in this ablate", name, found.experiment, asked.option));
    db::ask(request, asked.option, asked.values);
  }
}

std::optional<PluginVerdict> verdict_today(const db::Reader& history, const UsedPlugin& plugin) {
  const auto kept = user_verdicts().find({plugin.kind, plugin.id, plugin.code_identity});
  const auto stored = history.verdict(plugin);
  const bool is_current = stored && stored->suite == kSuiteVersion;
  if (!kept.passed() && !kept.has_failed()) return is_current ? std::optional(stored->plugin.verdict) : std::nullopt;
  PluginVerdict verdict{kept.verdict, kept.failed_text(), kept.lengths};
  if (is_current && stored->plugin.verdict.verdict == "passed") add_lengths(verdict.lengths, stored->plugin.verdict.lengths);
  return verdict;
}

}  // namespace ablate
