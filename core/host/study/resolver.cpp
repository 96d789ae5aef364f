#include "core/host/study/resolver.h"

#include <fmt/format.h>

#include "core/records/setting_paths.h"
#include "core/registry/conditions.h"
#include "core/util/sha256.h"
#include "core/util/stop_on_signal.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Guesses the intended form of a value, for the message.
std::string remedy(const ParameterInfo& parameter, const Point::Setting& setting) {
  const auto& value = setting.assignment->value;
  if (!setting.by_grid && value.is_array() && parameter.type != ParameterType::kRates)
    return "; several values to compare belong in [grid]";
  if (setting.by_grid && !value.is_array() && parameter.type == ParameterType::kRates)
    return "; as an axis, write a list of such lists: [[\"1/2\"], [\"1/4\", \"1/8\"]]";
  return "";
}

/// Returns "[attention.compression]", or "[[attention.parts]]" for an entry.
std::string header_of(const std::string& path) {
  const auto [above, key] = split_path(path);
  return is_index(key) ? "[[" + above + "]]" : "[" + path + "]";
}

/// Visits the settings inside a section, at any depth.
template <class Visit>
void each_below(const Point& point, const std::string& path, Visit visit) {
  for (auto s = point.settings.lower_bound(path + "."); s != point.settings.end() && is_below(s->first, path); ++s)
    visit(s->first, s->first.substr(path.size() + 1), s->second);
}

}  // namespace

json Resolver::section(const std::string& path, const PluginInfo* plugin) {
  auto object = json::object();
  if (plugin != nullptr) object["plugin"] = plugin->id;
  for (const auto& parameter : Schema::parameters(path, plugin)) {
    const auto at = path + "." + parameter.name;
    if (!parameter.plugin_kind()) {
      add_value(at, parameter, plugin, object);
      continue;
    }
    auto value = parameter.type == ParameterType::kPlugin ? plugin_section(at, *parameter.plugin_kind(), plugin)
                                                          : list(at, parameter, plugin);
    if (!value.is_null()) object[parameter.name] = std::move(value);
  }
  refuse_unused(path, plugin);
  refuse_unread(path, plugin, object);
  return object;
}

json Resolver::plugin_section(const std::string& path, Kind kind, const PluginInfo* owner) {
  const auto* plugin = check_plugin(path, kind, owner) ? plugin_of(schema_, *point_, path) : nullptr;
  if (plugin == nullptr) return nullptr;
  auto object = section(path, plugin);
  if (kind != Kind::kTask) promising_.emplace_back(plugin, path);
  return object;
}

json Resolver::list(const std::string& path, const ParameterInfo& parameter, const PluginInfo* owner) {
  const auto direct = point_->settings.find(path);
  if (direct != point_->settings.end()) {  // a value in place of sections
    const auto& assignment = *direct->second.assignment;
    if (!assignment.value.is_discarded())
      report(assignment.where,
             fmt::format("{} = {}: expected {}, sections [[{}]]", path, show(assignment.value), expectation(parameter), path));
    ok_ = false;
    return nullptr;
  }
  const auto numbers = entries(path);
  bool set = false;  // true if there are settings inside the list, which are refused
  each_below(*point_, path, [&](const auto&, const auto&, const auto&) { set = true; });
  if (numbers.empty() && !set && !is_broken(draft_, path))
    report(location_of(path), fmt::format("{} needs {}; write [[{}]] and in each plugin = \"...\" (known: {})", owner->id,
                                          expectation(parameter), path, schema_.known(*parameter.plugin_kind())));
  if (numbers.size() > kMostPlugins)
    report(location_of(path), fmt::format("{} has {} entries, expected {}", path, numbers.size(), expectation(parameter)));
  if (numbers.empty() || numbers.size() > kMostPlugins) {
    ok_ = false;
    return nullptr;
  }
  return entry_sections(path, numbers, *parameter.plugin_kind(), owner);
}

/// Returns null if any entry has an error.
json Resolver::entry_sections(const std::string& path, const std::vector<int>& numbers, Kind kind, const PluginInfo* owner) {
  auto all = json::array();
  bool whole = true;
  for (const auto number : numbers) {
    all.push_back(plugin_section(fmt::format("{}.{}", path, number), kind, owner));
    whole = whole && !all.back().is_null();
  }
  return whole ? all : json();
}

/// Resolves the attention: one for all layers, or a list that layers use in turn.
json Resolver::layers() {
  const Point::Setting* entry = nullptr;
  each_below(*point_, "attention", [&](const auto&, const std::string& key, const Point::Setting& setting) {
    if (entry == nullptr && is_index(split_first(key).first)) entry = &setting;
  });
  if (entry == nullptr) return plugin_section("attention", Kind::kAttention, nullptr);
  if (const auto one = point_->settings.find(setting::kAttentionPlugin); one != point_->settings.end()) {
    report((entry->by_grid ? *entry : one->second).assignment->key,
           "attention.plugin is for all layers, and attention.0 is the first attention of a list; keep one of the two");
    return nullptr;
  }
  return entry_sections(section::kAttention, entries(section::kAttention), Kind::kAttention, nullptr);
}

/// Returns the numbers of a list's entries, from 0 without a gap.
std::vector<int> Resolver::entries(const std::string& path) {
  std::map<int, Location> found;
  each_below(*point_, path, [&](const std::string& whole, const std::string& key, const Point::Setting& setting) {
    const auto first = split_first(key).first;
    if (is_index(first))
      found.try_emplace(std::stoi(first), setting.assignment->key);
    else if (setting.by_grid && schema_.refuse_path(whole).empty())
      report(setting.assignment->key,
             fmt::format("{} is a list here, and {} is no part of it; its first entry is {}.0", path, whole, path));
  });
  std::vector<int> numbers;
  for (const auto& [number, where] : found) {
    if (number != static_cast<int>(numbers.size())) {
      report(where,
             fmt::format("{0}.{1} is set, and there is no {0}.{2}; entries are counted from 0", path, number, numbers.size()));
      break;
    }
    numbers.push_back(number);
  }
  return numbers;
}

void Resolver::add_value(const std::string& path, const ParameterInfo& parameter, const PluginInfo* plugin, json& object) {
  auto value = parameter.default_value;
  if (const auto found = point_->settings.find(path); found != point_->settings.end()) {
    const auto& setting = found->second;
    const auto& [_, written, key, where] = *setting.assignment;
    auto checked = check_value(parameter, written);
    if (checked.ok()) {
      value = std::move(checked.value);
      where_[path] = where;
    } else {  // a check across parameters must not report the default that replaces the invalid value
      ok_ = false;
      wrong_.insert(path);
      if (!written.is_discarded())
        report(where, fmt::format("{} = {}: expected {}{}", path, show(written), checked.expected, remedy(parameter, setting)));
    }
  }
  if (parameter.type == ParameterType::kFile && !value.get_ref<const std::string&>().empty()) add_file(path, value, plugin);
  object[parameter.name] = std::move(value);
}

void Resolver::add_file(const std::string& path, const std::string& file, const PluginInfo* plugin) {
  const auto [known, fresh] = digests_.try_emplace(file);
  std::string why = "there is no such file";
  std::error_code failed;
  if (fresh && std::filesystem::is_regular_file(file, failed)) {
    try {
      known->second = sha256_file(file, UINTMAX_MAX, stop_if_asked);
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      why = error.what();
    }
  } else if (std::filesystem::exists(file, failed)) {
    why = "it is no regular file";
  }
  if (!known->second.empty()) {
    files_[path] = known->second;
    return;
  }
  const auto where = where_.find(path);
  report(where != where_.end() ? where->second : location_of(path),
         fmt::format("{} = {}: {}; {} needs the path of a file, from the folder {}", path, show(file), why,
                     plugin == nullptr ? "it" : plugin->id, std::filesystem::current_path(failed).string()));
}

/// Refuses a grid's value if the section's plugin lacks the parameter. Schema::refuse_path reports keys that no plugin has.
void Resolver::refuse_unused(const std::string& path, const PluginInfo* plugin) {
  each_below(*point_, path, [&](const std::string& whole, const std::string& key, const Point::Setting& setting) {
    const auto [name, below] = split_first(key);
    if (!setting.by_grid || key == "plugin") return;
    const auto* parameter = Schema::find(path, plugin, name);
    if (parameter != nullptr && (below.empty() || parameter->plugin_kind())) return;
    ok_ = false;
    if (plugin == nullptr || !schema_.refuse_path(whole).empty()) return;
    report(setting.assignment->key,
           fmt::format("{} has no parameter {}; put {} in a row with the plugins that have it, or exclude the combination",
                       plugin->id, below.empty() ? name : key, whole));
  });
}

/// Reports a section that names no plugin, or an impossible plugin. Returns false if it names no plugin.
bool Resolver::check_plugin(const std::string& path, Kind kind, const PluginInfo* owner) {
  const auto found = point_->settings.find(path + ".plugin");
  if (found == point_->settings.end()) {
    report_missing(path, kind, owner);
    return false;
  }
  const auto& [name, value, key, where] = *found->second.assignment;
  where_[name] = where;
  if (value.is_discarded())
    ok_ = false;
  else if (!value.is_string())
    report(where, fmt::format("{} = {}: expected the name of a plugin, a text{}", name, show(value),
                              !value.is_array()       ? ""
                              : found->second.by_grid ? "; write one name here"
                                                      : "; several names to compare belong in [grid]"));
  else if (const auto why = schema_.refuse_plugin(path, kind, value.get<std::string>()); !why.empty())
    report(where, why, schema_.refused_library(value.get<std::string>()) != nullptr ? ExitCode::kPlugin : ExitCode::kUsage);
  return true;
}

void Resolver::report_missing(const std::string& path, Kind kind, const PluginInfo* owner) {
  ok_ = false;
  // The plugin's part of the study, or the value in its place, was refused already.
  if (is_broken(draft_, path + ".plugin") || point_->settings.contains(path)) return;
  // The stand-in for a misspelt plugin is not checked for required parts.
  auto above = split_path(path).first;
  if (is_index(split_path(path).second)) above = split_path(above).first;
  const auto named = point_->settings.find(above + ".plugin");
  if (owner != nullptr && (named == point_->settings.end() || named->second.assignment->value != owner->id)) return;
  const auto kind_text = to_text(kind);
  if (owner == nullptr && !is_index(split_path(path).second))
    return report(
        location_of(path),
        fmt::format("no {} is named; write [{}] and in it plugin = \"...\"; ablate plugins lists them", kind_text, path));
  const auto who = owner == nullptr ? "each entry of [[attention]]" : owner->id;
  report(location_of(path),
         fmt::format("{} needs {} plugin, and {} names none; write {} and in it plugin = \"...\" (known: {})", who,
                     with_article(kind), path, header_of(path), schema_.known(kind)));
}

/// Returns the location of a section or of a setting in it, else of the nearest section above it, else the file's start.
Location Resolver::location_of(const std::string& path) const {
  if (!draft_.sections.contains(path))
    if (const auto first = point_->settings.lower_bound(path + ".");
        first != point_->settings.end() && is_below(first->first, path))
      return first->second.assignment->key;
  for (auto at = path; !at.empty(); at = at.find('.') == std::string::npos ? "" : split_path(at).first) {
    if (const auto header = draft_.sections.find(at); header != draft_.sections.end() && at == path) return header->second;
    if (const auto plugin = where_.find(at + ".plugin"); plugin != where_.end()) return plugin->second;
    if (const auto header = draft_.sections.find(at); header != draft_.sections.end()) return header->second;
  }
  return draft_.start;
}

void Resolver::report(const Location& where, const std::string& message, ExitCode code) {
  ok_ = false;
  diagnostics_.add(where, message, code);
}

/// Refuses a value that no code reads, because another parameter does not have the required value.
void Resolver::refuse_unread(const std::string& path, const PluginInfo* plugin, const json& object) {
  const auto of_override = [&](const std::string& other) {
    const auto set = point_->settings.find(other);
    return set != point_->settings.end() && set->second.assignment->key.file == kOverrideFile;
  };
  const auto declared = Schema::parameters(path, plugin);
  for (const auto& parameter : declared) {
    const auto at = path + "." + parameter.name;
    const auto found = point_->settings.find(at);
    if (found == point_->settings.end()) continue;
    const auto& assignment = *found->second.assignment;
    const auto unmet = unmet_condition(declared, parameter, object), other = condition_of(unmet).name;
    const auto why = fmt::format("{} only if {}", plugin == nullptr ? "it is read" : plugin->id + " reads it", unmet);
    if (unmet.empty() || wrong_.contains(path + "." + other)) {  // the error was reported
      read_.insert(at);
    } else if (assignment.key.file != kOverrideFile && of_override(path + "." + other)) {
      continue;  // no error: an override has replaced the required value
    } else if (found->second.by_grid) {
      report(assignment.key,
             fmt::format("{} does nothing with {}.{} = {}: {}; put it in a row that meets this condition, or exclude the "
                         "combination",
                         at, path, other, show(object[other]), why));
    } else if (assignment.key.file != draft_.preset) {
      unread_.try_emplace(
          at, Diagnostic{assignment.key, fmt::format("{} does nothing: {}, which no trial has; set {}.{}, or leave {} out", at,
                                                     why, path, other, at)});
    }
  }
}

void Resolver::report_unread() const {
  for (const auto& [path, found] : unread_)
    if (!read_.contains(path)) diagnostics_.add(found.where, found.message);
}

}  // namespace ablate
