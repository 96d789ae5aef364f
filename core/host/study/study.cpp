#include "core/host/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "core/host/study/auto_device.h"
#include "core/host/study/labels.h"
#include "core/host/study/matching.h"
#include "core/host/study/path.h"
#include "core/host/study/resolver.h"
#include "core/host/study/rules.h"
#include "core/host/study/toml_file.h"
#include "core/host/study/tuning.h"
#include "core/records/setting_paths.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

using Alternatives = std::vector<std::size_t>;

void check_paths(const Draft& draft, const Schema& schema, Diagnostics& diagnostics) {
  const auto check = [&](const Assignment& set, bool in_grid) {
    if (in_grid && set.path == setting::kSeed)
      return diagnostics.add(set.key, "seeds are set by grid.seeds alone, as in seeds = [1, 2, 3]");
    const auto why = schema.refuse_path(set.path);
    // A preset serves studies of several plugins.
    if (why.empty() || (set.key.file == draft.preset && schema.known_elsewhere(set.path))) return;
    // A section that nothing takes is wrong as a whole, not key by key.
    const auto header = in_grid ? draft.sections.end() : draft.sections.find(split_path(set.path).first);
    const bool nested = header != draft.sections.end() && set.key.file != kOverrideFile && !schema.kind_of(header->first) &&
                        header->first.find('.') != std::string::npos;
    diagnostics.add(nested ? header->second : set.key, why);
  };
  for (const auto& [path, set] : draft.base) check(set, false);
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set)
        if (group.form != Group::Form::kSeeds) check(set, true);
}

/// Where presets are: beside the study, then those that are installed, or in the source that the program was built from.
std::vector<std::filesystem::path> preset_folders(const std::filesystem::path& study) {
  std::error_code none;
  const auto prefix = std::filesystem::read_symlink("/proc/self/exe", none).parent_path().parent_path();
  return {study.parent_path() / "presets", prefix / "share/ablate/experiments/presets", ABLATE_PRESETS};
}

/// Reports a trial that equals an earlier one, at the first part of the grid in which the two differ.
void report_duplicate(const Draft& draft, const Alternatives& earlier, const Alternatives& later, Diagnostics& diagnostics) {
  for (std::size_t g = 0; g < draft.groups.size(); ++g) {
    if (earlier[g] == later[g]) continue;
    const auto &one = draft.groups[g].alternatives[earlier[g]], &other = draft.groups[g].alternatives[later[g]];
    const auto line = to_text(one.where);
    if (line != to_text(other.where))
      return diagnostics.add(other.where, fmt::format("this gives the same trial as {}; leave one of the two out", line));
    std::string values;  // both are of one --set, which has no lines
    for (const auto& set : other.set) values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", set.path, show(set.value));
    return diagnostics.add(other.where, fmt::format("{} gives the same trial twice; leave one of the two out", values));
  }
}

/// The published numbers of the trial that comes next. One paper may repeat another's number, but a trial can show one only.
void add_published(const Draft& draft, const std::vector<std::size_t>& rules, Study& study, Diagnostics& diagnostics) {
  std::map<std::string, const PublishedDraft*> seen;
  for (const auto& number : draft.published) {
    if (std::find(rules.begin(), rules.end(), number.rule) == rules.end()) continue;
    if (const auto [other, fresh] = seen.try_emplace(number.metric, &number); !fresh)
      diagnostics.add(number.where, fmt::format("{} of this trial is published at {} already; keep one", number.metric,
                                                to_text(other->second->where)));
    else
      study.published.push_back({study.trials.size(), number.metric, number.value, number.source});
  }
}

/// A number at one value of a tuned parameter would stand in a table where dev chooses that value, and else nowhere.
void check_published(const Draft& draft, Diagnostics& diagnostics) {
  for (const auto& rule : draft.published_rules)
    for (const auto& entry : rule.entries)
      for (const auto& group : draft.groups)
        if (const auto paths = group.paths(); group.tuned && std::find(paths.begin(), paths.end(), entry.path) != paths.end())
          diagnostics.add(entry.key,
                          fmt::format("{} is tuned: dev chooses its value, and a published number is of the choice; leave it "
                                      "out here, or make it an axis of [grid]",
                                      entry.path));
}

void expand(const Draft& draft, const Schema& schema, Study& study, Diagnostics& diagnostics) {
  auto& trials = study.trials;
  const bool sound = diagnostics.empty();
  const auto grid = draft.sections.contains("grid") ? draft.sections.at("grid") : draft.start;
  Rules exclude(draft.rules, "exclude rule", schema, diagnostics);
  Rules publish(draft.published_rules, "published line", schema, diagnostics);
  if (count_points(draft) > kMostTrials)
    return diagnostics.add(grid, fmt::format("the grid has more than {} trials; split the study", kMostTrials));
  Resolver resolver(draft, schema, diagnostics);
  std::map<std::pair<std::array<int, kTrialSections>, std::uint64_t>, Alternatives> seen;
  trials.reserve(count_points(draft));
  Cells cells(draft);
  std::size_t left = 0;
  each_point(draft, [&](const Point& point) {
    stop_if_asked();
    if (!exclude.matching(point).empty()) return;
    ++left;
    auto trial = resolver.resolve(point);
    if (!trial) return;
    const auto [entry, fresh] = seen.try_emplace({resolver.contents(*trial), trial->spec.seed}, point.alternatives);
    // Alternatives of a path that is wrong do not differ in the trials.
    if (!fresh && sound) report_duplicate(draft, entry->second, point.alternatives, diagnostics);
    if (!fresh) return;
    cells.add(point.alternatives, *trial, diagnostics);
    if (!trial->tunes) add_published(draft, publish.matching(point), study, diagnostics);
    trials.push_back(std::move(*trial));
  });
  if (sound) cells.check_seeds(diagnostics);
  if (sound && diagnostics.empty()) resolver.report_unread();
  // Where a part of the grid could not be read, or an override replaced one, a rule may rightly match nothing.
  if (sound && study.overrides.empty())
    for (const auto* rules : {&exclude, &publish}) rules->report_unmatched(diagnostics);
  if (left == 0) diagnostics.add(grid, "the grid leaves no trial: every one is excluded");
}

}  // namespace

Study load_study(const std::filesystem::path& file, const std::vector<std::string>& overrides, const Catalog& catalog,
                 const AutoDevice& auto_device, const CountSizes& count) {
  Study study{.file = file, .text = read_toml(file, "a study"), .overrides = overrides};
  Diagnostics diagnostics(overrides);
  if (const auto document = parse_document(study.text, file.string(), diagnostics)) {
    auto draft = read_draft(*document, overrides, file.stem().string(), preset_folders(file), diagnostics);
    replace_auto_device(draft, auto_device);
    const Schema schema(catalog, draft.plugins);
    check_paths(draft, schema, diagnostics);
    check_published(draft, diagnostics);
    study.tables = draft.tables;
    study.name = draft.name, study.description = draft.description, study.timeout_s = draft.timeout_s;
    study.checkpoint_s = draft.checkpoint_s;
    study.keep_weights = draft.keep_weights;
    for (const auto& group : draft.groups)
      for (const auto& path : group.tuned ? group.paths() : std::vector<std::string>()) study.tuned.push_back(path);
    if (draft.tuning_seeds) {
      study.tuning_seeds_at = draft.tuning_seeds->where;
      for (const auto& one : draft.tuning_seeds->alternatives) study.tuning_seeds.push_back(one.set.front().value);
    }
    if (draft.match && diagnostics.empty()) {
      study.match = draft.match->asked;
      study.matched = add_matched(draft, schema, count, diagnostics);
    }
    expand(draft, schema, study, diagnostics);
    if (diagnostics.empty()) add_labels(draft, study.trials);
  }
  if (!diagnostics.empty()) throw ConfigError(diagnostics.sorted());
  return study;
}

}  // namespace ablate
