#include "core/host/proof/carried.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/host/scheduler/identity.h"
#include "core/records/setting_paths.h"
#include "core/shared/trial_spec.h"
#include "core/shared/versions.h"
#include "core/util/plain_json.h"
#include "db/history/lineage.h"

namespace ablate {
namespace {

using nlohmann::json;

/// The plugins of a trial as they are here, by path; null: there is none of that name.
std::map<std::string, const PluginInfo*> plugins_today(const Identity& trial, const Catalog& catalog) {
  std::map<std::string, const PluginInfo*> found;
  for (const auto& [path, code] : trial.basis.at("plugins").items()) {  // a plugin comes before those that are its parameters
    auto kind = path == section::kTask ? Kind::kTask : Kind::kAttention;
    for (const auto& [around, info] : found) {
      if (info == nullptr || !path.starts_with(around + ".")) continue;
      const auto name = path.substr(around.size() + 1);
      if (const auto* parameter = info->find(name.substr(0, name.find('.'))); parameter != nullptr)
        kind = parameter->plugin_kind().value_or(kind);
    }
    found[path] = catalog.find(kind, trial.settings.at(path + ".plugin").get<std::string>());
  }
  return found;
}

}  // namespace

std::string default_text(const std::string& path, const json& before, const json& now) {
  return fmt::format("{}: its default was {} and is {}", path, plain_json(before.at(path)), plain_json(now));
}

json changed(json basis, const Change& change) {
  bool is_concerned = false;
  for (const auto* name : kOwnVersions) {
    if (!change.contains(name)) continue;
    const auto &before = change[name][0], &now = change[name][1];
    if (basis.value(name, json()) != before) return nullptr;
    basis.erase(name);
    if (!now.is_null()) basis[name] = now;
    is_concerned = true;
  }
  for (auto& [path, code] : basis.at("plugins").items())
    if (change.contains("plugins"))
      if (const auto found = change["plugins"].find(code.get<std::string>()); found != change["plugins"].end())
        code = *found, is_concerned = true;
  return is_concerned ? basis : json(nullptr);
}

Carried::Carried(const db::Reader& reader, const Catalog& catalog)
    : reader_(reader), catalog_(catalog), known_(db::all_done(reader)) {}

Carried::NewDefaults Carried::new_defaults(const db::PastTrial& past, const json& basis) const {
  NewDefaults found;
  const auto &settings = past.parts.settings, &before = past.parts.basis, &values = past.parts.values;
  const auto look = [&](const std::string& section, std::span<const ParameterInfo> parameters) {
    for (const auto& parameter : parameters) {
      if (parameter.plugin_kind()) continue;
      const auto path = section + "." + parameter.name;
      const auto& now = parameter.default_value;
      if (const auto set = settings.find(path); set != settings.end()) {
        if (*set == now) found.changed.push_back(fmt::format("{}: its default was another and is {}", path, plain_json(now)));
      } else if (const auto had = values.find(path); had == values.end()) {
        found.added[path] = now;
      } else if (*had != now) {
        found.changed.push_back(default_text(path, values, now));
      }
    }
  };
  for (const auto& [path, info] : plugins_today({settings, basis}, catalog_))
    if (info != nullptr && before.at("plugins").at(path) != basis.at("plugins").at(path)) look(path, info->parameters);
  const auto differs = [&](const char* name) { return before.value(name, json()) != basis.value(name, json()); };
  if (std::ranges::any_of(kOwnVersions, differs))
    for (const auto& section : host_sections(TrialSpec())) look(section.name, section.parameters);
  return found;
}

Carried::Concerned Carried::concerned(const db::PastTrial& past) const {
  Concerned one{past.attempt, past.parts, "", {}, {}};
  for (const auto& [path, info] : plugins_today(one.today, catalog_))
    if (info == nullptr)
      one.gone =
          fmt::format("{} ({}) is not among the plugins", one.today.settings.at(path + ".plugin").get<std::string>(), path);
    else
      one.today.basis["plugins"][path] = info->code_identity();
  one.today.basis["runtime"] = kRuntimeVersion;
  set_kernels(one.today);
  one.today.basis["torch"] = ABLATE_TORCH_VERSION;
  return one;
}

std::vector<db::Alias> Carried::carry(const Change& change, const Coverage& coverage) {
  const auto count = known_.size();
  std::vector<json> bases;
  std::vector<std::string> keys;  // "": it does not concern them
  for (const auto& past : known_) {
    bases.push_back(changed(past.parts.basis, change));
    keys.push_back(bases.back().is_null() ? "" : Identity{past.parts.settings, bases.back()}.key());
  }
  const auto done = db::done_attempts(reader_, keys);
  std::vector<db::Alias> aliases;
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i].empty()) continue;
    const auto past = known_[i];
    const auto at = concerned_.try_emplace(past.trial, concerned(past)).first;
    if (done.contains(keys[i]) || given_.contains(keys[i])) continue;
    const auto defaults = new_defaults(past, bases[i]);
    if (!defaults.changed.empty()) {
      at->second.defaults.insert(defaults.changed.begin(), defaults.changed.end());
      continue;
    }
    if (const auto missing = coverage.missing(past.parts); !missing.empty()) {
      at->second.missing.insert(
          fmt::format("{} {} not repeated", fmt::join(missing, ", "), missing.size() == 1 ? "was" : "were"));
      continue;
    }
    given_.insert(keys[i]);
    auto values = past.parts.values;
    values.update(defaults.added);
    auto added = past.added;
    added.update(defaults.added);
    aliases.push_back({keys[i], past.trial, bases[i], past.by_proof ? past.key : "", std::move(added)});
    known_.push_back(
        {past.trial, past.attempt, keys[i], {past.parts.settings, bases[i], std::move(values)}, true, aliases.back().added});
  }
  return aliases;
}

std::size_t Carried::kept() const {
  std::set<std::string> keys;
  for (const auto& [trial, one] : concerned_)
    if (const auto key = one.today.key(); one.gone.empty() && given_.contains(key)) keys.insert(key);
  return keys.size();
}

std::string Carried::why_left(std::int64_t trial, const Concerned& one) const {
  if (!one.gone.empty()) return one.gone;
  if (!one.defaults.empty()) return fmt::format("{}", fmt::join(one.defaults, ", "));
  if (!one.missing.empty()) return fmt::format("{}", fmt::join(one.missing, "; "));
  std::vector<std::string> fewest;
  for (const auto& past : known_) {
    if (past.trial != trial) continue;
    auto others = differences(one.today, past.parts);
    if (fewest.empty() || others.size() < fewest.size()) fewest = std::move(others);
  }
  return fmt::format("what differs as well was not repeated: {}", fmt::join(fewest, ", "));
}

std::map<std::int64_t, const Carried::Concerned*> Carried::behind() const {
  std::vector<std::string> keys;
  for (const auto& [trial, one] : concerned_) keys.push_back(one.today.key());
  const auto done = db::done_attempts(reader_, keys);
  std::map<std::int64_t, const Concerned*> found;
  for (const auto& [trial, one] : concerned_)
    if (const auto key = one.today.key(); !one.gone.empty() || !(done.contains(key) || given_.contains(key)))
      found[trial] = &one;
  return found;
}

bool Carried::may_prove_more() const {
  const auto all = behind();
  return std::any_of(all.begin(), all.end(),
                     [](const auto& entry) { return entry.second->gone.empty() && entry.second->defaults.empty(); });
}

std::vector<std::string> Carried::left() const {
  std::map<std::string, std::vector<std::int64_t>> attempts;
  for (const auto& [trial, one] : behind()) attempts[why_left(trial, *one)].push_back(one->attempt);
  std::vector<std::string> lines;
  for (auto& [why, those] : attempts) {
    std::sort(those.begin(), those.end());
    lines.push_back(fmt::format("attempt{} {}: {}", those.size() == 1 ? "" : "s", fmt::join(those, ", "), why));
  }
  return lines;
}

}  // namespace ablate
