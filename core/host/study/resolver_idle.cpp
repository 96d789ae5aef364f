// Values that nothing reads.
#include <fmt/format.h>

#include "core/host/study/path.h"
#include "core/host/study/resolver.h"
#include "core/registry/conditions.h"

namespace ablate {

using nlohmann::json;

/// A value that nothing reads, since another parameter has not the value that it belongs to.
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
    const auto why = fmt::format("{} where {} alone", plugin == nullptr ? "it is read" : plugin->id + " reads it", unmet);
    if (unmet.empty() || wrong_.contains(path + "." + other)) {  // and reported
      read_.insert(at);
    } else if (assignment.key.file != kOverrideFile && of_override(path + "." + other)) {
      continue;  // the override has taken away what the file's own value serves
    } else if (found->second.by_grid) {
      report(assignment.key,
             fmt::format("{} does nothing where {}.{} = {}: {}; put it in a row with that, or exclude the combination", at,
                         path, other, show(object[other]), why));
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
