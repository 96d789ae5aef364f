#include "tools/ablate/questions/verdict_today.h"

#include "core/shared/verdict_memory.h"

namespace ablate {

std::optional<db::PluginVerdict> verdict_today(const db::UsedPlugin& plugin) {
  const auto kept = user_verdicts().find({plugin.kind, plugin.id, plugin.code_identity});
  if (!kept.passed() && !kept.has_failed()) return std::nullopt;
  return db::PluginVerdict{kept.verdict, kept.failed_text()};
}

}  // namespace ablate
