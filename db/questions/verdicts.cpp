#include "db/questions/verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "db/history/schema.h"
#include "db/report/format.h"

namespace ablate::db {
namespace {

Checked checked_of(const PluginVerdict& verdict) {
  return verdict.verdict == "passed" ? Checked::kPassed : verdict.verdict == "failed" ? Checked::kFailed : Checked::kUnchecked;
}

/// By id: few, however many trials there are.
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
    std::optional<PluginVerdict> today;  // asked once each
    std::map<std::string, Checked> then;
  };
  std::map<std::int64_t, Known> known;
  const auto note = [&](std::int64_t id, const PluginVerdict& verdict) {
    const auto checked = checked_of(verdict);
    const TableVerdicts::Name name(plugins.at(id).kind, plugins.at(id).id);
    if (checked == Checked::kFailed) verdicts.failed[name] = verdict.failed_checks;
    if (checked == Checked::kUnchecked) verdicts.unchecked.insert(name);
    if (checked == Checked::kFailed || checked == Checked::kUnchecked) verdicts.libraries.insert(plugins.at(id).path);
    return checked;
  };
  visit_plugins(reader, trials, [&](std::size_t trial, std::int64_t plugin, const PluginVerdict& recorded) {
    const auto [use, is_new] = known.try_emplace(plugin);
    if (is_new && today) use->second.today = today(plugins.at(plugin));
    const auto& verdict = use->second.today ? *use->second.today : recorded;
    const auto [at, is_other] = use->second.then.try_emplace(verdict.verdict, Checked::kUnknown);
    if (is_other) at->second = note(plugin, verdict);
    verdicts.of_trial[trial] = std::max(verdicts.of_trial[trial], at->second);
  });
  return verdicts;
}

void fill_checked(const TableTrials& from, const TableVerdicts& verdicts, Table& table) {
  for (std::size_t i = 0; i < from.members.size(); ++i) {
    auto worst = Checked::kUnknown;
    for (const auto t : from.members[i]) worst = std::max(worst, verdicts.of_trial[t]);
    for (std::size_t m = 0; m < from.metrics.size(); ++m) table.cells[place(table, i, m)].checked = worst;
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
    notes.push_back(fmt::format("! with a plugin that fails its checks: {}; `{}` shows what is wrong", fmt::join(failed, ", "),
                                check_command(failed_ids) + where));
  if (!unchecked.empty())
    notes.push_back(fmt::format("{}never checked: {}; `{}` does it (what was edited since has to run again)",
                                any_checked ? "? " : "", some_of(unchecked), check_command(unchecked) + where));
  return notes;
}

}  // namespace ablate::db
