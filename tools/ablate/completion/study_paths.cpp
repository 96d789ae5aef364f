#include "tools/ablate/completion/study_paths.h"

#include <algorithm>
#include <set>
#include <span>

#include "core/shared/sections.h"

namespace ablate {
namespace {

/// What may be set, with the few values that it takes, where they are few.
struct Settable {
  std::string path, about;
  std::vector<std::string> values;
};

std::vector<std::string> values_of(const ParameterInfo& parameter) {
  if (parameter.type == ParameterType::kBoolean) return {"true", "false"};
  return parameter.type == ParameterType::kText ? parameter.choices : std::vector<std::string>();
}

class Settables {
 public:
  Settables(const std::vector<PluginInfo>& plugins, const std::string& study) : plugins_(plugins), study_(study) {}

  void add(const std::string& path, const std::string& about, std::vector<std::string> values = {}) {
    if (known_.insert(path).second) all_.push_back({path, about, std::move(values)});
  }
  void add(const std::string& section, std::span<const ParameterInfo> parameters) {
    for (const auto& parameter : parameters) {
      const auto path = section.empty() ? parameter.name : section + "." + parameter.name;
      const auto kind = parameter.plugin_kind();
      if (!kind)
        add(path, parameter.help, values_of(parameter));
      else if (parameter.type == ParameterType::kPlugin && known_.insert(path).second)
        add_plugins(path, *kind);
    }
  }
  void add_plugins(const std::string& section, Kind kind) {
    std::vector<std::string> ids;
    bool any_named = false;
    for (const auto& plugin : plugins_)
      if (plugin.kind == kind) ids.push_back(plugin.id), any_named = any_named || names(plugin);
    add(section + ".plugin", "which " + std::string(to_text(kind)), ids);
    for (const auto& plugin : plugins_)
      if (plugin.kind == kind && (names(plugin) || !any_named)) add(section, plugin.parameters);
  }
  const std::vector<Settable>& all() const { return all_; }

 private:
  bool names(const PluginInfo& plugin) const { return study_.find('"' + plugin.id + '"') != std::string::npos; }

  const std::vector<PluginInfo>& plugins_;
  const std::string& study_;
  std::vector<Settable> all_;
  std::set<std::string> known_;
};

std::vector<CompletedWord> continued(const std::string& part, const std::vector<Settable>& all) {
  std::vector<CompletedWord> candidates;
  std::set<std::string> sections;
  const auto equals = part.find('=');
  for (const auto& one : all) {
    if (equals != std::string::npos) {
      if (one.path == part.substr(0, equals))
        for (const auto& value : one.values)
          if (auto word = one.path + "=" + value; word.starts_with(part)) candidates.push_back({word, ""});
    } else if (one.path.starts_with(part)) {
      const auto dot = one.path.find('.', part.size());
      if (dot == std::string::npos)
        candidates.push_back({one.path + "=", one.about});
      else if (const auto section = one.path.substr(0, dot + 1); sections.insert(section).second)
        candidates.push_back({section, ""});
    }
  }
  return candidates;
}

}  // namespace

std::vector<CompletedWord> complete_study_path(const std::string& part, const std::vector<PluginInfo>& plugins,
                                               const std::string& study) {
  Settables settables(plugins, study);
  settables.add_plugins("task", Kind::kTask);
  settables.add_plugins("attention", Kind::kAttention);
  settables.add("model", model_parameters());
  settables.add("train", train_parameters());
  settables.add("seeds", "a number of seeds, or a list");
  settables.add("experiment.name", "the experiment that the trials belong to");
  return continued(part, settables.all());
}

std::vector<CompletedWord> complete_parameter(const std::string& part, const std::vector<PluginInfo>& plugins,
                                              const std::vector<std::string>& ids) {
  Settables settables(plugins, "");
  for (const auto& plugin : plugins)
    if (std::find(ids.begin(), ids.end(), plugin.id) != ids.end()) settables.add("", plugin.parameters);
  return continued(part, settables.all());
}

}  // namespace ablate
