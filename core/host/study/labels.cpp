#include "core/host/study/labels.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/host/study/path.h"
#include "core/records/setting_paths.h"
#include "core/util/flatten.h"

namespace ablate {
namespace {

using nlohmann::json;

/// As paths are ordered.
constexpr std::array<TrialSection, kTrialSections> kInOrder = {TrialSection::kAttention, TrialSection::kModel,
                                                               TrialSection::kTask, TrialSection::kTrain};

/// "attention.plugin" -> "attention", as flatten() names it.
std::string short_path(const std::string& path) {
  const std::string end = ".plugin";
  return path.ends_with(end) ? path.substr(0, path.size() - end.size()) : path;
}

std::string short_value(const json& value) {
  if (!value.is_string()) return value.dump();
  const std::string text = value;
  return text.empty() || text.find_first_of(" \t\n\"=") != std::string::npos ? value.dump() : text;
}

/// The paths of a section that the grid sets, and what its trials have there.
class SectionLabels {
 public:
  SectionLabels(TrialSection section, const std::set<std::string>& set) : name_(to_text(section)), values_({section}) {
    for (const auto& path : set)
      if (split_first(path).first == name_) paths_.push_back(path);
    seen_.resize(paths_.size());
  }

  void see(const Trial& trial) { values_of(trial); }

  /// What tells the trial from others, all of which have been seen: "attention=linear attention.heads=2", "" for nothing.
  std::string label(const Trial& trial) {
    const auto& values = values_of(trial);
    std::string text;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      if (seen_[i].size() > 1 && values[i]) text += (text.empty() ? "" : " ") + paths_[i] + "=" + *values[i];
    return text;
  }

 private:
  using Texts = std::vector<std::optional<std::string>>;  ///< by path; nothing where the trial has none

  const Texts& values_of(const Trial& trial) {
    return values_.of(trial.sections, [&] {
      const auto settings = flatten({{name_, trial.resolved().at(name_)}});
      Texts texts;
      for (std::size_t i = 0; i < paths_.size(); ++i) {
        const auto found = settings.find(paths_[i]);
        if (found != settings.end())
          seen_[i].insert(found->second);
        else if (is_index(split_path(paths_[i]).second))  // a list that is shorter is another list
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

/// Of a trial that nothing tells from others: what it is about.
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

}  // namespace

void add_labels(const Draft& draft, std::vector<Trial>& trials) {
  std::set<std::string> paths;
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set) paths.insert(short_path(set.path));
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

}  // namespace ablate
