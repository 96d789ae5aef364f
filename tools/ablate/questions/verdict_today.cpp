#include "tools/ablate/questions/verdict_today.h"

#include "core/shared/verdict_memory.h"
#include "core/shared/versions.h"

namespace ablate {

std::optional<PluginVerdict> verdict_today(const db::Reader& history, const UsedPlugin& plugin) {
  const auto kept = user_verdicts().find({plugin.kind, plugin.id, plugin.code_identity});
  const auto told = history.verdict(plugin);
  const bool is_told = told && told->suite == kSuiteVersion;
  if (!kept.passed() && !kept.has_failed()) return is_told ? std::optional(told->plugin.verdict) : std::nullopt;
  PluginVerdict verdict{kept.verdict, kept.failed_text(), kept.lengths};
  if (is_told && told->plugin.verdict.verdict == "passed") add_lengths(verdict.lengths, told->plugin.verdict.lengths);
  return verdict;
}

}  // namespace ablate
