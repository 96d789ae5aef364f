#include "core/host/study/labels.h"

#include <set>

#include "core/host/study/path.h"
#include "core/util/flatten.h"

namespace ablate {
namespace {

/// "attention.plugin" -> "attention", as flatten() names it.
std::string short_path(const std::string& path) {
  const std::string end = ".plugin";
  return path.ends_with(end) ? path.substr(0, path.size() - end.size()) : path;
}

std::string short_value(const nlohmann::json& value) {
  if (!value.is_string()) return value.dump();
  const std::string text = value;
  return text.empty() || text.find_first_of(" \t\n\"=") != std::string::npos ? value.dump() : text;
}

}  // namespace

void add_labels(const Draft& draft, std::vector<Trial>& trials) {
  std::map<std::string, std::set<nlohmann::json>> values;
  for (const auto& group : draft.groups)
    for (const auto& alternative : group.alternatives)
      for (const auto& set : alternative.set) values[short_path(set.path)];
  for (const auto& trial : trials) {
    const auto settings = flatten(trial.resolved);
    for (auto& [path, seen] : values)
      if (const auto found = settings.find(path); found != settings.end())
        seen.insert(found->second);
      else if (is_index(split_path(path).second))  // a list that is shorter is another list
        seen.insert(nullptr);
  }
  for (auto& trial : trials) {
    const auto settings = flatten(trial.resolved);
    const auto add = [&](const std::string& path) {
      if (const auto found = settings.find(path); found != settings.end())
        trial.label += (trial.label.empty() ? "" : " ") + path + "=" + short_value(found->second);
    };
    for (const auto& [path, seen] : values)
      if (path != "seed" && seen.size() > 1) add(path);
    if (values["seed"].size() > 1) add("seed");
    if (trial.label.empty()) add("attention");
    for (int entry = 0; trial.label.empty() || entry > 0; ++entry) {
      const auto path = "attention." + std::to_string(entry);
      if (!settings.contains(path)) break;
      add(path);
    }
  }
}

}  // namespace ablate
