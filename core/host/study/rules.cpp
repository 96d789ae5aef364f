#include "core/host/study/rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/records/setting_paths.h"

namespace ablate {
namespace {

using nlohmann::json;

/// Returns the values of an entry. A trial must have one of them. A list is several values, with one exception: if the
/// parameter itself is a list of rates, ["1/2", "1/4"] is one value and [["1/2"], ["1/4"]] is two values.
std::vector<json> values_of(const json& written, bool takes_list) {
  if (!written.is_array() || (takes_list && (written.empty() || !written.front().is_array()))) return {written};
  return {written.begin(), written.end()};
}

json canonical(const ParameterInfo* parameter, const json& value) {
  if (parameter == nullptr) return value;
  const auto checked = check_value(*parameter, value);
  return checked.ok() ? checked.value : value;
}

/// Returns the error in an entry's values, or "".
std::string refuse(const Rule::Entry& entry, const Schema& schema) {
  const auto [section, key] = split_path(entry.path);
  const auto parameters = schema.find_all(section, key);
  const bool takes_list =
      std::any_of(parameters.begin(), parameters.end(), [](const auto* p) { return p->type == ParameterType::kRates; });
  const auto values = values_of(entry.value, takes_list);
  if (values.empty()) return fmt::format("{} is an empty list, which matches nothing", entry.path);
  for (const auto& value : values) {
    if (entry.path == setting::kSeed && !value.is_number_integer())
      return fmt::format("seed = {}: expected an integer, or a list of integers", show(value));
    if (const auto kind = schema.kind_of(section); kind && key == "plugin") {
      std::vector<std::string> ids;
      for (const auto* plugin : schema.used(section)) ids.push_back(plugin->id);
      const auto id = value.is_string() ? value.get<std::string>() : show(value);
      if (std::find(ids.begin(), ids.end(), id) == ids.end())
        return fmt::format("the study uses no {} plugin \"{}\"{}", to_text(*kind), id, suggestion(id, ids));
    }
    if (!parameters.empty() &&
        std::none_of(parameters.begin(), parameters.end(), [&](const auto* p) { return check_value(*p, value).ok(); }))
      return fmt::format("{} = {}: expected {}", entry.path, show(value), expectation(*parameters.front()));
  }
  return "";
}

}  // namespace

Rules::Rules(const std::vector<Rule>& rules, std::string what, const Schema& schema, Diagnostics& diagnostics)
    : rules_(rules), what_(std::move(what)), schema_(schema), matched_(rules.size(), false), valid_(rules.size(), true) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    for (const auto& entry : rules[i].entries) {
      auto why = entry.path == setting::kSeed ? "" : schema.refuse_path(entry.path);
      const auto& where = why.empty() ? entry.where : entry.key;
      if (why.empty()) why = refuse(entry, schema);
      if (why.empty()) continue;
      diagnostics.add(where, why);
      valid_[i] = false;
    }
  }
}

std::vector<std::size_t> Rules::matching(const Point& point) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < rules_.size(); ++i) {
    const auto& entries = rules_[i].entries;
    if (!valid_[i] || !std::all_of(entries.begin(), entries.end(), [&](const auto& e) { return matches(e, point); })) continue;
    matched_[i] = true;
    found.push_back(i);
  }
  return found;
}

bool Rules::matches(const Rule::Entry& entry, const Point& point) const {
  const auto [section, key] = split_path(entry.path);
  const auto* plugin = schema_.kind_of(section) ? plugin_of(schema_, point, section) : nullptr;
  const auto* own = Schema::find(section, plugin, key);
  const auto setting = point.settings.find(entry.path);
  const bool is_plugin = key == "plugin" && schema_.kind_of(section);
  const bool set =
      setting != point.settings.end() && (setting->second.by_grid || own != nullptr || (is_plugin && plugin != nullptr));
  const auto others = schema_.find_all(section, key);
  const auto* parameter = own != nullptr || others.empty() ? own : others.front();

  json actual;
  if (set)
    actual = canonical(parameter, setting->second.assignment->value);
  else if (own != nullptr)
    actual = own->default_value;
  else if (is_plugin && plugin != nullptr)
    actual = plugin->id;
  else
    return false;
  const bool takes_list = parameter != nullptr && parameter->type == ParameterType::kRates;
  const auto values = values_of(entry.value, takes_list);
  return std::any_of(values.begin(), values.end(), [&](const auto& value) { return canonical(parameter, value) == actual; });
}

void Rules::report_unmatched(Diagnostics& diagnostics) const {
  for (std::size_t i = 0; i < matched_.size(); ++i) {
    if (matched_[i] || !valid_[i]) continue;
    std::string all;
    for (const auto& entry : rules_[i].entries)
      all += fmt::format("{}{} = {}", all.empty() ? "" : ", ", entry.path, show(entry.value));
    diagnostics.add(rules_[i].where, fmt::format("this {} matches no trial: {}; correct it or leave it out", what_, all));
  }
}

}  // namespace ablate
