#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>

#include "db/history/schema.h"
#include "db/questions/tables/table_notes.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

Checked checked_of(const PluginVerdict& verdict) {
  return verdict.verdict == "passed" ? Checked::kPassed : verdict.verdict == "failed" ? Checked::kFailed : Checked::kUnchecked;
}

/// Returns all plugins by id. They are few, even if there are many trials.
std::map<std::int64_t, UsedPlugin> all_plugins(const Reader& reader) {
  return guarded(reader.file(), [&] {
    std::map<std::int64_t, UsedPlugin> all;
    SQLite::Statement ask(reader.database(), "SELECT id, kind, name, version, code_identity, content_hash, path FROM plugin");
    while (ask.executeStep()) {
      const auto text = [&](int column) { return ask.getColumn(column).getString(); };
      all[ask.getColumn(0).getInt64()] = {text(1), text(2), text(3), text(4), text(5), text(6)};
    }
    return all;
  });
}

}  // namespace

TableVerdicts load_verdicts(const Reader& reader, const std::vector<SelectedTrial>& trials,
                            const decltype(TableRequest::verdict_today)& today) {
  TableVerdicts verdicts{std::vector<Checked>(trials.size(), Checked::kUnknown), {}, {}, {}};
  const auto plugins = all_plugins(reader);
  struct Known {
    std::optional<PluginVerdict> today;  // requested once for each plugin
    std::map<std::string, Checked> then;
  };
  std::unordered_map<std::int64_t, Known> known;
  const auto note = [&](std::int64_t id, const PluginVerdict& verdict) {
    const auto checked = checked_of(verdict);
    const TableVerdicts::Name name(plugins.at(id).kind, plugins.at(id).id);
    if (checked == Checked::kFailed) verdicts.failed[name] = verdict.failed_checks;
    if (checked == Checked::kUnchecked) verdicts.unchecked.insert(name);
    if (checked == Checked::kFailed || checked == Checked::kUnchecked) verdicts.libraries.insert(plugins.at(id).path);
    return checked;
  };
  std::unordered_map<std::int64_t, Checked> of_set{{0, Checked::kUnknown}};
  for (const auto& [set, uses] : load_plugin_sets(reader, trials)) {
    auto worst = Checked::kUnknown;
    for (const auto& [plugin, verdict, failed_checks, place, length, checked_length] : uses) {
      const auto [found, is_new] = known.try_emplace(plugin);
      auto& use = found->second;
      if (is_new && today) use.today = today(plugins.at(plugin));
      const auto said = use.today.value_or(PluginVerdict{verdict, failed_checks, {{place, checked_length}}});
      auto at = use.then.find(said.verdict);
      if (at == use.then.end()) at = use.then.emplace(said.verdict, note(plugin, said)).first;
      worst = std::max(worst, at->second);
      const auto limit = said.lengths.find(place);
      if (at->second != Checked::kPassed || limit == said.lengths.end() || limit->second == 0 || length <= limit->second)
        continue;
      worst = std::max(worst, Checked::kBeyond);
      const auto& info = plugins.at(plugin);
      auto& [checked, used] = verdicts.beyond.try_emplace({info.kind, info.id}, limit->second, length).first->second;
      checked = std::min(checked, limit->second), used = std::max(used, length);
      verdicts.libraries.insert(info.path);
    }
    of_set[set] = worst;
  }
  for (std::size_t t = 0; t < trials.size(); ++t) verdicts.of_trial[t] = of_set.at(trials[t].plugin_set);
  return verdicts;
}

void fill_checked(const TableTrials& from, const TableVerdicts& verdicts, Table& table) {
  for (std::size_t i = 0; i < from.members.size(); ++i) {
    auto worst = Checked::kUnknown;
    for (const auto t : from.members[i]) worst = std::max(worst, verdicts.of_trial[t]);
    for (std::size_t m = 0; m < from.metrics.size(); ++m) table.cells[index_of(table, i, m)].checked = worst;
  }
}

std::vector<std::string> verdict_notes(const TableVerdicts& verdicts, bool any_checked,
                                       const decltype(TableRequest::check_options)& options) {
  const auto where = options ? options(verdicts.libraries) : "";
  std::vector<std::string> notes, failed, failed_ids, unchecked;
  for (const auto& [name, checks] : verdicts.failed) {
    failed.push_back(checks.empty() ? name.second : fmt::format("{} ({})", name.second, checks));
    failed_ids.push_back(name.second);
  }
  for (const auto& [kind, id] : verdicts.unchecked) unchecked.push_back(id);
  if (!failed.empty())
    notes.push_back(fmt::format("! with a plugin that fails its checks: {}; `{}` shows the errors", fmt::join(failed, ", "),
                                check_command(failed_ids) + where));
  std::vector<std::string> beyond, beyond_ids;
  std::int64_t longest = 0;
  for (const auto& [name, lengths] : verdicts.beyond) {
    beyond.push_back(fmt::format("{} (checked up to {} tokens, used at {})", name.second, with_commas(lengths.first),
                                 with_commas(lengths.second)));
    beyond_ids.push_back(name.second);
    longest = std::max(longest, lengths.second);
  }
  if (!beyond.empty())
    notes.push_back(fmt::format("> longer than the checked lengths: {}; `{}` checks them", fmt::join(beyond, ", "),
                                fmt::format("{} --length {}{}", check_command(beyond_ids), longest, where)));
  if (!unchecked.empty())
    notes.push_back(
        fmt::format("{}never checked: {}; `{}` checks them (if a plugin was edited since, its trials must run again)",
                    any_checked ? "? " : "", some_of(unchecked), check_command(unchecked) + where));
  return notes;
}

}  // namespace ablate::db
