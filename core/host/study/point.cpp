#include "core/host/study/point.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/records/setting_paths.h"

namespace ablate {
namespace {

/// Returns the kind of plugin of a section, or nullopt if the plugin that contains it has no such parameter.
std::optional<Kind> kind_at(const Schema& schema, const Point& point, const std::string& section) {
  if (section == "task") return Kind::kTask;
  if (section == "attention") return Kind::kAttention;
  auto [above, key] = split_path(section);
  const bool entry = is_index(key);
  if (entry && above == "attention") return Kind::kAttention;
  if (entry) std::tie(above, key) = split_path(above);
  const auto* owner = above.empty() || key.empty() ? nullptr : plugin_of(schema, point, above);
  const auto* parameter = owner == nullptr ? nullptr : owner->find(key);
  if (parameter == nullptr || (parameter->type == ParameterType::kPlugins) != entry) return std::nullopt;
  return parameter->plugin_kind();
}

/// Drops base values that an alternative replaces. Overrides stay.
void drop_replaced(const Alternative& alternative, Point& point) {
  std::erase_if(point.settings, [&](const auto& entry) {
    const auto& [path, setting] = entry;
    return !setting.by_grid && setting.assignment->key.file != kOverrideFile && replaces(alternative, path);
  });
}

/// Applies an alternative's settings, except those that an earlier group has set.
void set_all(const Alternative& alternative, Point& point) {
  for (const auto& set : alternative.set) {
    auto& setting = point.settings[set.path];
    if (!setting.by_grid) setting = {&set, true};
  }
}

/// True if a group's alternative may follow the chosen alternatives of earlier groups. In a group of widths, only the width
/// found for the chosen alternatives may follow. If a rule leaves the point out, only the first alternative may follow, which
/// sets no width.
bool goes_with(const Group& group, std::size_t alternative, const std::vector<std::size_t>& chosen, std::size_t before) {
  if (group.form != Group::Form::kMatched) return true;
  const auto found = group.found.find({chosen.begin(), chosen.begin() + static_cast<std::ptrdiff_t>(before)});
  return alternative == (found == group.found.end() ? 0 : found->second);
}

/// Visits the points that have the alternatives of `point` in the groups before `group`.
void visit_from(const Draft& draft, std::size_t group, const Point& point, const std::function<void(const Point&)>& visit) {
  if (group == draft.groups.size()) return visit(point);
  const auto& alternatives = draft.groups[group].alternatives;
  for (std::size_t i = 0; i < alternatives.size(); ++i) {
    if (!goes_with(draft.groups[group], i, point.alternatives, group)) continue;
    auto next = point;
    next.alternatives[group] = i;
    drop_replaced(alternatives[i], next);
    set_all(alternatives[i], next);
    visit_from(draft, group + 1, next, visit);
  }
}

}  // namespace

std::size_t count_points(const Draft& draft) {
  std::size_t count = 1;
  for (const auto& group : draft.groups)
    if (group.form != Group::Form::kMatched && (count *= group.alternatives.size()) > kMostTrials) return kMostTrials + 1;
  return count;
}

void each_point(const Draft& draft, const std::function<void(const Point&)>& visit) {
  Point base;
  for (const auto& [path, assignment] : draft.base) base.settings[path] = {&assignment, false};
  base.alternatives.resize(draft.groups.size());
  visit_from(draft, 0, base, visit);
}

const PluginInfo* plugin_of(const Schema& schema, const Point& point, const std::string& section) {
  const auto kind = kind_at(schema, point, section);
  const auto found = point.settings.find(section + ".plugin");
  if (!kind || found == point.settings.end()) return nullptr;
  const auto& value = found->second.assignment->value;
  return value.is_string() ? schema.plugin(*kind, value.get<std::string>()) : nullptr;
}

}  // namespace ablate
