#include "core/host/scheduler/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/util/plain_json.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr const char* kDefault = "the default";
/// What plugins are told beside their own sections, and choose among their code by: values of each changed one.
constexpr std::array kTold{"model.causal", "model.positions", "model.segment", "model.attention_dropout",
                           "train.dtype",  "train.device"};

/// The plugin's section that a setting stands in, and its name there. A plugin that is a parameter of another
/// ("compression.plugin") is a value of that one.
std::pair<std::string, std::string> section_of(const std::string& path, const json& plugins) {
  auto at = path.ends_with(".plugin") ? path.rfind('.') : path.size();
  while (at != std::string::npos && at > 0) {
    at = path.rfind('.', at - 1);
    if (at != std::string::npos && plugins.contains(path.substr(0, at))) return {path.substr(0, at), path.substr(at + 1)};
  }
  return {};
}

}  // namespace

Coverage::Coverage(ChangedCode changed, const std::vector<Identity>& trials, std::size_t least) : changed_(std::move(changed)) {
  for (const auto& trial : trials)
    for (const auto& [value, path] : values_of(trial)) names_[value.code].insert(value.parameter);
  std::vector<Values> values;
  for (const auto& trial : trials) values.push_back(values_of(trial));
  const auto adds = [&](std::size_t place) {
    return std::count_if(values[place].begin(), values[place].end(),
                         [&](const auto& entry) { return !covered_.contains(entry.first); });
  };
  for (;;) {
    std::size_t best = 0;
    std::ptrdiff_t most = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto added = adds(i); added > most) best = i, most = added;
    if (most == 0) break;
    chosen_.insert(best);
    for (const auto& [value, path] : values[best]) covered_.insert(value);
  }
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (!chosen_.contains(i)) others.push_back(i);
  const auto more = std::min(others.size(), std::max(least, chosen_.size()) - chosen_.size());
  for (std::size_t i = 0; i < more; ++i) chosen_.insert(others[i * others.size() / more]);
}

Coverage::Values Coverage::values_of(const Identity& trial) const {
  Values values;
  const auto& plugins = trial.basis.at("plugins");
  std::map<std::string, std::map<std::string, std::string>> sections;  // of changed code: what they set
  for (const auto& [path, code] : plugins.items())
    if (changed_.plugins.contains(code)) sections[path];
  const auto told = [](const std::string& path) { return std::ranges::find(kTold, path) != kTold.end(); };
  for (const auto& [path, value] : trial.settings.items()) {
    const auto [section, name] = section_of(path, plugins);
    if (!section.empty() && sections.contains(section)) sections[section][name] = plain_json(value);
    if (told(path))
      for (auto& [at, set] : sections) set[path] = plain_json(value);
    if (changed_.runtime && path != "seed") sections[""][path] = plain_json(value);
  }
  if (changed_.runtime) sections[""];
  for (const auto& [section, set] : sections) {
    const std::string code = section.empty() ? "" : plugins.at(section).get<std::string>();
    const auto add = [&](const std::string& name, const std::string& value) {
      values.try_emplace({code, name, value}, section.empty() || told(name) ? name : section + "." + name);
    };
    for (const auto& [name, value] : set) add(name, value);
    if (const auto known = names_.find(code); known != names_.end())
      for (const auto& name : known->second)
        if (!set.contains(name)) add(name, kDefault);
  }
  return values;
}

std::vector<std::string> Coverage::missing(const Identity& trial) const {
  std::vector<std::string> found;
  for (const auto& [value, path] : values_of(trial))
    if (!covered_.contains(value)) found.push_back(fmt::format("{} = {}", path, value.value));
  return found;
}

}  // namespace ablate
