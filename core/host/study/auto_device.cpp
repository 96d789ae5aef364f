#include "core/host/study/auto_device.h"

#include <optional>

#include "core/records/setting_paths.h"

namespace ablate {

void replace_auto_device(Draft& draft, const AutoDevice& kind) {
  std::optional<std::string> known;
  const auto replace = [&](const std::string& path, nlohmann::json& value) {
    if (path != setting::kDevice) return;
    const auto replace_one = [&](nlohmann::json& one) {
      if (one != "auto") return;
      if (!known) known = kind ? kind() : "cpu";
      one = *known;
    };
    if (value.is_array())
      for (auto& one : value) replace_one(one);
    else
      replace_one(value);
  };
  for (auto& [path, set] : draft.base) replace(path, set.value);
  for (auto& group : draft.groups)
    for (auto& alternative : group.alternatives)
      for (auto& set : alternative.set) replace(set.path, set.value);
  for (auto* rules : {&draft.rules, &draft.published_rules})
    for (auto& rule : *rules)
      for (auto& entry : rule.entries) replace(entry.path, entry.value);
}

}  // namespace ablate
