#include "core/host/study/point.h"

namespace ablate {

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
      for (const auto& set : alternatives[point.chosen[g]].set) point.settings[set.path] = {&set, true};
    }
    visit(point);
  }
}

const PluginInfo* plugin_of(const Schema& schema, const Point& point, const std::string& section) {
  if (section == "compression")
    if (const auto* attention = plugin_of(schema, point, "attention");
        attention != nullptr && !attention->capabilities.takes_compression)
      return nullptr;
  const auto found = point.settings.find(section + ".plugin");
  if (found == point.settings.end()) return section == "compression" ? schema.plugin(section, kDefaultCompression) : nullptr;
  const auto& value = found->second.assignment->value;
  return value.is_string() ? schema.plugin(section, value.get<std::string>()) : nullptr;
}

}  // namespace ablate
