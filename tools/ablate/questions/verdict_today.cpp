#include "tools/ablate/questions/verdict_today.h"

#include "core/shared/verdict_memory.h"
#include "core/shared/versions.h"

namespace ablate {

std::optional<PluginVerdict> verdict_today(const db::Reader& history, const UsedPlugin& plugin) {
  const auto kept = user_verdicts().find({plugin.kind, plugin.id, plugin.code_identity});
  if (kept.passed() || kept.has_failed()) return PluginVerdict{kept.verdict, kept.failed_text()};
  const auto told = history.verdict(plugin);
  return told && told->suite == kSuiteVersion ? std::optional(told->plugin.verdict) : std::nullopt;
}

}  // namespace ablate
