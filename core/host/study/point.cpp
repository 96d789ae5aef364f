#include "core/host/study/point.h"

#include <tuple>

#include "core/host/study/path.h"

namespace ablate {
namespace {

/// The kind of plugin that a section is of; nothing where the plugin above it has no such parameter.
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

/// What an alternative sets takes the base's place. An override is the last word on what it sets.
void drop_replaced(const Alternative& alternative, Point& point) {
  const auto sets_plugin = [](const auto& set) { return set.path == "attention.plugin"; };
  if (alternative.lists.empty() && std::none_of(alternative.set.begin(), alternative.set.end(), sets_plugin)) return;
  std::erase_if(point.settings, [&](const auto& entry) {
    const auto& [path, setting] = entry;
    return !setting.by_grid && setting.assignment->key.file != kOverrideFile && replaces(alternative, path);
  });
}

}  // namespace

std::size_t count_points(const Draft& draft) {
  std::size_t count = 1;
  for (const auto& group : draft.groups)
    if ((count *= group.alternatives.size()) > kMostTrials) return kMostTrials + 1;
  return count;
}

void each_point(const Draft& draft, const std::function<void(const Point&)>& visit) {
  const auto count = count_points(draft);
  Point base;
  for (const auto& [path, assignment] : draft.base) base.settings[path] = {&assignment, false};
  base.chosen.resize(draft.groups.size());
  for (std::size_t number = 0; number < count; ++number) {
    Point point = base;
    std::size_t rest = number;
    for (std::size_t g = draft.groups.size(); g-- > 0;) {
      const auto& alternatives = draft.groups[g].alternatives;
      point.chosen[g] = rest % alternatives.size();
      rest /= alternatives.size();
      drop_replaced(alternatives[point.chosen[g]], point);
      for (const auto& set : alternatives[point.chosen[g]].set) point.settings[set.path] = {&set, true};
    }
    visit(point);
  }
}

const PluginInfo* plugin_of(const Schema& schema, const Point& point, const std::string& section) {
  const auto kind = kind_at(schema, point, section);
  const auto found = point.settings.find(section + ".plugin");
  if (!kind || found == point.settings.end()) return nullptr;
  const auto& value = found->second.assignment->value;
  return value.is_string() ? schema.plugin(*kind, value.get<std::string>()) : nullptr;
}

}  // namespace ablate
