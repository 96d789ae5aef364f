#include "core/host/launch/known_verdicts.h"

#include "core/shared/verdict_memory.h"
#include "core/shared/versions.h"

namespace ablate {

std::vector<db::KnownVerdict> known_verdicts(const std::vector<PluginInfo>& plugins) {
  const auto memory = user_verdicts();
  std::vector<db::KnownVerdict> known;
  for (const auto& info : plugins) {
    const auto code = code_of(info);
    const auto verdict = memory.find(code);
    if (!verdict.passed() && !verdict.has_failed()) continue;
    UsedPlugin plugin{.kind = code.kind, .id = code.id, .code_identity = code.identity};
    plugin.verdict = {verdict.verdict, verdict.failed_text(), verdict.lengths};
    known.push_back({plugin, kSuiteVersion, verdict.checked_s});
  }
  return known;
}

}  // namespace ablate
