// Stores the verdicts of a check, and reports what they mean for trials that have run.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/host/launch/known_verdicts.h"
#include "db/history/reader.h"
#include "tools/ablate/check/check_run.h"
#include "tools/ablate/streams.h"

namespace ablate {

void CheckRun::keep() {
  const auto* part = arguments_.quick ? "--quick" : !arguments_.only.empty() ? "--only" : "--set";
  if (arguments_.quick || !arguments_.parameters.empty() || !arguments_.only.empty())
    return say("no verdict is stored: a check with {} is not a full check at default parameters\n", part);
  const auto memory = user_verdicts();
  std::vector<PluginInfo> kept, failed;
  std::string unwritten;
  for (std::size_t i = 0; i < libraries_.size(); ++i) {
    const auto& one = examinations_[i];
    auto verdict = one.own_verdict();
    if (is_refused(i) || !one.is_plugins_own() || !one.culprits().empty() || verdict.verdict == "unchecked") continue;
    verdict.timed = one.info().kind == Kind::kTask || has_time(i);
    const auto why = memory.put(code_of(one.info()), arguments_.device.substr(0, arguments_.device.find(':')), verdict);
    if (unwritten.empty()) unwritten = why;
    kept.push_back(one.info());
    if (verdict.has_failed()) failed.push_back(one.info());
  }
  if (!unwritten.empty()) say("the verdict could not be stored in {}\n", unwritten);
  if (history_) history_->put_verdicts(known_verdicts(kept));
  if (std::error_code none; !failed.empty() && std::filesystem::exists(database_, none)) tell_of_trials(failed);
}

/// Names the remedy for trials that ran with code that fails a check.
void CheckRun::tell_of_trials(const std::vector<PluginInfo>& failed) const try {
  const db::Reader reader(database_);
  std::vector<std::string> used;
  for (const auto& info : failed)
    if (reader.has_run({.kind = to_text(info.kind), .id = info.id, .code_identity = info.code_identity()}))
      used.push_back(info.id);
  if (!used.empty())
    say("{} has trials of {}: after the fix, `ablate run STUDY --prove N`\n  repeats some of these trials, and keeps "
        "all of them if no number changed\n",
        path_text(database_), fmt::join(used, ", "));
} catch (const Error&) {  // no history, or another schema: the results are complete without this line
}

}  // namespace ablate
