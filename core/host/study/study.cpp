#include "core/host/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "core/host/study/document.h"
#include "core/host/study/draft.h"
#include "core/host/study/longer.h"
#include "core/host/study/matching.h"
#include "core/host/study/resolver.h"
#include "core/host/study/rules.h"
#include "core/host/study/tuning.h"
#include "core/records/setting_paths.h"
#include "core/util/flatten.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Sections in the order of their paths.
constexpr std::array<TrialSection, kTrialSections> kInOrder = {TrialSection::kAttention, TrialSection::kModel,
                                                               TrialSection::kTask, TrialSection::kTrain};

/// Shortens a path as flatten() does: "attention.plugin" -> "attention".
std::string short_path(const std::string& path) {
  const std::string end = ".plugin";
  return path.ends_with(end) ? path.substr(0, path.size() - end.size()) : path;
}

std::string short_value(const json& value) {
  if (!value.is_string()) return value.dump();
  const std::string text = value;
  return text.empty() || text.find_first_of(" \t\n\"=") != std::string::npos ? value.dump() : text;
}

/// Paths that the grid sets in one section, and the trials' values of these paths.
class SectionLabels {
 public:
  SectionLabels(TrialSection section, const std::set<std::string>& set) : name_(to_text(section)), values_({section}) {
    for (const auto& path : set)
      if (split_first(path).first == name_) paths_.push_back(path);
    seen_.resize(paths_.size());
  }

  void see(const Trial& trial) { values_of(trial); }

  /// Returns the trial's differences from other trials passed to see(): "attention=linear attention.heads=2", "" for none.
  std::string label(const Trial& trial) {
    const auto& values = values_of(trial);
    std::string text;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      if (seen_[i].size() > 1 && values[i]) text += (text.empty() ? "" : " ") + paths_[i] + "=" + *values[i];
    return text;
  }

 private:
  using Texts = std::vector<std::optional<std::string>>;  ///< by path; nullopt if the trial has none

  const Texts& values_of(const Trial& trial) {
    return values_.of(trial.sections, [&] {
      const auto settings = flatten({{name_, trial.resolved().at(name_)}});
      Texts texts;
      for (std::size_t i = 0; i < paths_.size(); ++i) {
        const auto found = settings.find(paths_[i]);
        if (found != settings.end())
          seen_[i].insert(found->second);
        else if (is_index(split_path(paths_[i]).second))  // a shorter list is a different list
          seen_[i].insert(nullptr);
        texts.push_back(found == settings.end() ? std::nullopt : std::optional(short_value(found->second)));
      }
      return texts;
    });
  }

  std::string name_;
  std::vector<std::string> paths_;
  std::vector<std::set<json>> seen_;  ///< by path
  PerSections<Texts> values_;
};

/// Returns a trial's attentions, as the label of a study's only trial.
std::string attentions_of(const Trial& trial) {
  const auto settings = flatten(trial.resolved());
  std::string text;
  const auto add = [&](const std::string& path) {
    const auto found = settings.find(path);
    if (found != settings.end()) text += (text.empty() ? "" : " ") + path + "=" + short_value(found->second);
    return found != settings.end();
  };
  add(section::kAttention);
  for (std::size_t entry = 0; text.empty() || entry > 0; ++entry)
    if (!add(setting::layer(entry))) break;
  return text;
}

/// Fills in Trial::label with the paths of the grid that have several values among the trials, the seed last. A single trial
/// is named by its attention. Labels are unique: values that the grid does not set are equal, or follow from the plugins.
void add_labels(const Draft& draft, std::vector<Trial>& trials) {
  std::set<std::string> paths;
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set) paths.insert(short_path(set.path));
  if (draft.longer) paths.insert(setting::kSteps);
  std::vector<SectionLabels> labels;
  for (const auto section : kInOrder) labels.emplace_back(section, paths);
  bool seeds_differ = false;
  for (const auto& trial : trials) {
    for (auto& section : labels) section.see(trial);
    seeds_differ = seeds_differ || trial.spec.seed != trials.front().spec.seed;
  }
  for (auto& trial : trials) {
    const auto add = [&](const std::string& text) {
      if (!text.empty()) trial.label += (trial.label.empty() ? "" : " ") + text;
    };
    for (auto& section : labels) add(section.label(trial));
    if (seeds_differ) add("seed=" + std::to_string(trial.spec.seed));
    if (trial.label.empty()) trial.label = attentions_of(trial);
  }
}

/// Replaces "auto" by the device of this machine, in base values, the grid and rules. Keys contain the device, so that trials
/// on different devices are different trials. Calls `kind` at most once, and only if the study has "auto".
void replace_auto_device(Draft& draft, const AutoDevice& kind) {
  std::optional<std::string> known;
  const auto replace = [&](const std::string& path, nlohmann::json& value) {
    if (path != setting::kDevice) return;
    const auto replace_one = [&](nlohmann::json& one) {
      if (one != "auto") return;
      if (!known) known = kind ? kind() : "cpu";
      one = *known;
    };
    if (value.is_array())
      for (auto& one : value) replace_one(one);
    else
      replace_one(value);
  };
  for (auto& [path, set] : draft.base) replace(path, set.value);
  for (auto& group : draft.groups)
    for (auto& alternative : group.alternatives)
      for (auto& set : alternative.set) replace(set.path, set.value);
  for (auto* rules : {&draft.rules, &draft.published_rules})
    for (auto& rule : *rules)
      for (auto& entry : rule.entries) replace(entry.path, entry.value);
}

using Alternatives = std::vector<std::size_t>;

void check_paths(const Draft& draft, const Schema& schema, Diagnostics& diagnostics) {
  const auto check = [&](const Assignment& set, bool in_grid) {
    if (in_grid && set.path == setting::kSeed)
      return diagnostics.add(set.key, "seeds are set only by grid.seeds, as in seeds = [1, 2, 3]");
    const auto why = schema.refuse_path(set.path);
    // A preset serves studies of several plugins.
    if (why.empty() || (set.key.file == draft.preset && schema.known_elsewhere(set.path))) return;
    // An unknown section is reported as a whole, not key by key.
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

/// Returns the folders of presets: beside the study, then the installed presets, or the presets in the build's source tree.
std::vector<std::filesystem::path> preset_folders(const std::filesystem::path& study) {
  std::error_code none;
  const auto prefix = std::filesystem::read_symlink("/proc/self/exe", none).parent_path().parent_path();
  return {study.parent_path() / "presets", prefix / "share/ablate/experiments/presets", ABLATE_PRESETS};
}

/// Reports a trial that equals an earlier trial, at the first part of the grid in which the two differ.
void report_duplicate(const Draft& draft, const Alternatives& earlier, const Alternatives& later, Diagnostics& diagnostics) {
  for (std::size_t g = 0; g < draft.groups.size(); ++g) {
    if (earlier[g] == later[g]) continue;
    const auto &one = draft.groups[g].alternatives[earlier[g]], &other = draft.groups[g].alternatives[later[g]];
    const auto line = to_text(one.where);
    if (line != to_text(other.where))
      return diagnostics.add(other.where, fmt::format("this gives the same trial as {}; leave one of the two out", line));
    std::string values;  // both alternatives are from one --set, which has no lines
    for (const auto& set : other.set) values += fmt::format("{}{} = {}", values.empty() ? "" : ", ", set.path, show(set.value));
    return diagnostics.add(other.where, fmt::format("{} gives the same trial twice; leave one of the two out", values));
  }
}

/// Adds the published numbers of the next trial. Refuses two numbers for one metric, because a trial can show only one.
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

/// Refuses published numbers for a value of a tuned parameter. They would appear only in tables in which dev chose this value.
void check_published(const Draft& draft, Diagnostics& diagnostics) {
  for (const auto& rule : draft.published_rules)
    for (const auto& entry : rule.entries)
      for (const auto& group : draft.groups)
        if (const auto paths = group.paths(); group.tuned && std::find(paths.begin(), paths.end(), entry.path) != paths.end())
          diagnostics.add(entry.key,
                          fmt::format("{} is tuned: dev chooses its value, and a published number belongs to the chosen value; "
                                      "leave the parameter out here, or make it an axis of [grid]",
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
  std::map<std::pair<SectionNumbers, std::uint64_t>, Alternatives> seen;
  trials.reserve(count_points(draft));
  Cells cells(draft);
  std::size_t left = 0;
  std::vector<Trial> longer;
  each_point(draft, [&](const Point& point) {
    stop_if_asked();
    if (!exclude.matching(point).empty()) return;
    ++left;
    auto trial = resolver.resolve(point);
    if (!trial) return;
    const auto [entry, fresh] = seen.try_emplace({resolver.contents(*trial), trial->spec.seed}, point.alternatives);
    // Alternatives that set only an invalid path give equal trials, which are no duplicates.
    if (!fresh && sound) report_duplicate(draft, entry->second, point.alternatives, diagnostics);
    if (!fresh) return;
    cells.add(point.alternatives, *trial, diagnostics);
    if (trial->role == Role::kReported) {
      add_published(draft, publish.matching(point), study, diagnostics);
      if (draft.longer)
        if (auto more = longer_of(draft, *trial, resolver, diagnostics)) longer.push_back(std::move(*more));
    }
    trials.push_back(std::move(*trial));
  });
  std::move(longer.begin(), longer.end(), std::back_inserter(trials));
  if (trials.size() > kMostTrials)
    diagnostics.add(grid, fmt::format("the grid has more than {} trials; split the study", kMostTrials));
  if (sound) cells.check_seeds(diagnostics);
  if (sound && diagnostics.empty()) resolver.report_unread();
  // If a part of the grid was unreadable or an override replaced it, a rule may correctly match nothing.
  if (sound && study.overrides.empty())
    for (const auto* rules : {&exclude, &publish}) rules->report_unmatched(diagnostics);
  if (left == 0) diagnostics.add(grid, "the grid leaves no trial: every trial is excluded");
}

}  // namespace

std::vector<const Trial*> first_of_each(const std::vector<Trial>& trials, const std::vector<TrialSection>& sections) {
  std::vector<const Trial*> first;
  std::set<SectionNumbers> seen;
  for (const auto& trial : trials) {
    stop_if_asked();
    if (seen.insert(trial.sections.of(sections)).second) first.push_back(&trial);
  }
  return first;
}

Study load_study(const std::filesystem::path& file, const std::vector<std::string>& overrides, const Catalog& catalog,
                 const AutoDevice& auto_device, const CountSizes& count) {
  Study study{.file = file, .text = read_toml(file, "a study"), .overrides = overrides};
  Diagnostics diagnostics(overrides);
  if (const auto document = parse_document(study.text, file.string(), diagnostics)) {
    auto draft = read_draft(*document, overrides, file.stem().string(), preset_folders(file), diagnostics);
    replace_auto_device(draft, auto_device);
    const Schema schema(catalog, draft.plugins);
    add_values_beyond(draft, schema, diagnostics);
    check_paths(draft, schema, diagnostics);
    check_published(draft, diagnostics);
    study.tables = draft.tables;
    study.name = draft.name, study.description = draft.description, study.timeout_s = draft.timeout_s;
    study.checkpoint_s = draft.checkpoint_s;
    study.keep_weights = draft.keep_weights;
    for (const auto& group : draft.groups)
      for (const auto& path : group.tuned ? group.paths() : std::vector<std::string>()) study.tuned.push_back(path);
    study.widens = draft.widen && !study.tuned.empty();
    if (draft.tuning_seeds) {
      study.tuning_seeds_at = draft.tuning_seeds->where;
      for (const auto& one : draft.tuning_seeds->alternatives) study.tuning_seeds.push_back(one.set.front().value);
    }
    if (draft.smallest) study.smallest = draft.smallest->value;
    if (draft.longer) study.longer_factor = draft.longer->factor, study.longer_at = draft.longer->where;
    if (draft.match && diagnostics.empty()) {
      study.match = draft.match->asked;
      study.matched = add_matched(draft, schema, count, diagnostics);
    }
    expand(draft, schema, study, diagnostics);
    if (diagnostics.empty()) check_claims(draft.claims, study, draft.smallest.has_value(), diagnostics);
    for (const auto& one : draft.claims) study.claims.push_back(one.claim);
    if (!draft.claims.empty()) study.claims_at = draft.claims.front().where;
    if (diagnostics.empty()) add_labels(draft, study.trials);
  }
  if (!diagnostics.empty()) throw ConfigError(diagnostics.sorted());
  return study;
}

}  // namespace ablate
