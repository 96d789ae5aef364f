#include "core/host/proof/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/records/setting_paths.h"
#include "core/shared/optimizers.h"
#include "core/shared/schedules.h"
#include "core/shared/trial_spec.h"
#include "core/util/plain_json.h"

namespace ablate {
namespace {

using nlohmann::json;

constexpr const char* kDefault = "the default";
constexpr std::size_t kShownDigits = 12;  ///< of a digest

/// Of the sections that no plugin declares.
const std::set<std::string>& host_names() {
  static const auto names = [] {
    std::set<std::string> all;
    for (const auto& section : host_sections(TrialSpec())) all.insert(section.name);
    return all;
  }();
  return names;
}

/// The section that a setting stands in, and its name there. A plugin that is a parameter of another ("compression.plugin") is
/// a value of that one; what stands in none ("seed", "task.plugin") has neither.
std::pair<std::string, std::string> section_of(const std::string& path, const json& plugins) {
  auto at = path.ends_with(".plugin") ? path.rfind('.') : path.size();
  while (at != std::string::npos && at > 0) {
    at = path.rfind('.', at - 1);
    if (at == std::string::npos) break;
    if (const auto section = path.substr(0, at); host_names().contains(section) || plugins.contains(section))
      return {section, path.substr(at + 1)};
  }
  return {};
}

/// What each section sets: of each plugin, and of the host.
std::map<std::string, std::map<std::string, std::string>> sections_of(const Identity& trial) {
  const auto& plugins = trial.basis.at("plugins");
  std::map<std::string, std::map<std::string, std::string>> all;
  for (const auto& host : host_names()) all[host];
  for (const auto& [path, code] : plugins.items()) all[path];
  for (const auto& [path, value] : trial.settings.items()) {
    const auto [section, name] = section_of(path, plugins);
    if (!section.empty() && !(section == section::kTrain && numbers_alone().contains(name)))
      all[section][name] = plain_json(value);
  }
  return all;
}

/// A path without its numbers: "parts.0.compression" is "parts.compression".
std::string unnumbered(const std::string& path) {
  std::string found;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('.', begin), path.size());
    const auto name = path.substr(begin, end - begin);
    if (name.find_first_not_of("0123456789") != std::string::npos) found += (found.empty() ? "" : ".") + name;
    begin = end + 1;
  }
  return found;
}

/// How a section stands to a changed plugin's, where that can tell what it sets.
std::optional<std::string> relation(const std::string& section, const std::string& own) {
  if (section == own) return "own";
  if (section == section::kTrain) return section;
  if (own == section::kTask) return std::nullopt;
  if (section == section::kModel || section == section::kTask) return section;
  if (section.starts_with(own + ".")) return "part " + section.substr(own.size() + 1);
  if (own.starts_with(section + ".")) return "around " + unnumbered(own.substr(section.size() + 1));
  return std::nullopt;
}

std::string id_of(const Identity& trial, const std::string& section) { return trial.settings.value(section + ".plugin", ""); }

/// Where a plugin stands, from the layer inwards, and the same in words.
std::pair<std::string, std::string> surroundings_of(const Identity& trial, const std::string& own) {
  std::string surroundings, words;
  for (const auto& [section, code] : trial.basis.at("plugins").items()) {
    if (!own.starts_with(section + ".")) continue;  // in the order of paths: the outermost is the first one
    const auto digest = code.get<std::string>();
    surroundings += fmt::format("{} {} {} ", id_of(trial, section), digest, unnumbered(own.substr(section.size() + 1)));
    words = fmt::format("{} in {} (code {})", own, id_of(trial, section), digest.substr(0, kShownDigits));
  }
  const auto layer = setting::layer_of(own);
  surroundings += layer;
  if (words.empty()) words = own + (layer.empty() ? " in every layer" : " as a layer of its own");
  return {surroundings, words};
}

}  // namespace

const std::set<std::string>& numbers_alone() {
  static const auto names = [] {
    std::set<std::string> all{"learning_rate", "optimizer", "schedule",   "warmup",        "weight_decay",
                              "decayed",       "clip",      "loss_piece", "shuffle_labels"};
    for (const auto& brought : {own_of("optimizer", kOptimizers), own_of("schedule", kSchedules)})
      for (const auto& parameter : brought) all.insert(parameter.name);
    return all;
  }();
  return names;
}

Coverage::Coverage(ChangedCode changed, const std::vector<Identity>& trials, std::size_t least) : changed_(std::move(changed)) {
  for (const auto& trial : trials)
    for (const auto& [value, words] : values_of(trial)) names_[{value.code, value.owner}].insert(value.parameter);
  std::vector<Values> values;
  for (const auto& trial : trials) values.push_back(values_of(trial));
  const auto adds = [&](std::size_t trial) {
    return std::count_if(values[trial].begin(), values[trial].end(),
                         [&](const auto& entry) { return !covered_.contains(entry.first); });
  };
  for (;;) {
    std::size_t best = 0;
    std::ptrdiff_t most = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (const auto added = adds(i); added > most) best = i, most = added;
    if (most == 0) break;
    picked_.insert(best);
    for (const auto& [value, words] : values[best]) covered_.insert(value);
  }
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < trials.size(); ++i)
    if (!picked_.contains(i)) others.push_back(i);
  const auto more = std::min(others.size(), std::max(least, picked_.size()) - picked_.size());
  for (std::size_t i = 0; i < more; ++i) picked_.insert(others[i * others.size() / more]);
}

Coverage::Values Coverage::values_of(const Identity& trial) const {
  Values values;
  if (changed_.runtime) {
    auto settings = trial.settings;
    settings.erase(setting::kSeed);
    auto basis = trial.basis;
    for (const auto* name : kOwnVersions) basis.erase(name);
    values[{"", "", "", Identity{settings, basis}.key()}] = "this combination of settings";
    return values;
  }
  for (const auto& [path, code] : trial.basis.at("plugins").items())
    if (changed_.plugins.contains(code)) add_values(path, trial, values);
  return values;
}

void Coverage::add_values(const std::string& path, const Identity& trial, Values& values) const {
  const auto& plugins = trial.basis.at("plugins");
  const std::string code = plugins.at(path);
  const auto add = [&](const std::string& owner, const std::string& name, const std::string& value, const std::string& words) {
    values.try_emplace({code, owner, name, value}, words);
  };
  for (const auto& [section, set] : sections_of(trial)) {
    const auto related = relation(section, path);
    if (!related) continue;
    // The default of a plugin that is not there is no value.
    const auto owner = *related + ' ' + (plugins.contains(section) ? id_of(trial, section) : "");
    for (const auto& [name, value] : set)
      if (section + "." + name != path + ".plugin") add(owner, name, value, fmt::format("{}.{} = {}", section, name, value));
    if (const auto known = names_.find({code, owner}); known != names_.end())
      for (const auto& name : known->second)
        if (!set.contains(name)) {
          const auto default_value = trial.values.find(fmt::format("{}.{}", section, name));
          const auto text = default_value == trial.values.end() ? kDefault : plain_json(*default_value);
          add(owner, name, text, fmt::format("{}.{} = {}", section, name, text));
        }
    if (related->starts_with("part "))
      add("", *related, plugins.at(section), fmt::format("the code of {} ({})", id_of(trial, section), section));
    if (section == section::kTask && path != section)
      add("", section, id_of(trial, section),
          fmt::format("{} = {}", setting::kTaskPlugin, plain_json(json(id_of(trial, section)))));
  }
  if (path != section::kTask) {
    const auto [surroundings, words] = surroundings_of(trial, path);
    add("", "surroundings", surroundings, words);
  }
  for (const auto* name : {"data", "torch"})
    if (const auto found = trial.basis.find(name); found != trial.basis.end() && found->is_string())
      add("", name, *found, fmt::format("{} = {}", name, found->get<std::string>().substr(0, kShownDigits)));
}

std::vector<std::string> Coverage::missing(const Identity& trial) const {
  std::vector<std::string> found;
  for (const auto& [value, words] : values_of(trial))
    if (!covered_.contains(value)) found.push_back(words);
  return found;
}

}  // namespace ablate
