#include "tools/ablate/verdict_text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ctime>

#include "db/report/format.h"
#include "tools/ablate/plugin_options.h"
#include "tools/ablate/streams.h"

namespace ablate {
namespace {

/// Returns the command that checks these plugins, with the plugin folders of `options`.
std::string check_command(const std::vector<std::string>& ids, const Options& options) {
  return db::check_command(ids) + plugin_options(options.plugins);
}

}  // namespace

const char* verdict_word(const StoredVerdict& verdict) {
  return verdict.passed() ? "checked" : verdict.has_failed() ? "FAILED" : "unchecked";
}

std::string verdict_line(const PluginInfo& info, const StoredVerdict& verdict, const Options& options) {
  if (!verdict.passed() && !verdict.has_failed())
    return fmt::format("never; `{}` checks it", check_command({info.id}, options));
  auto text = fmt::format("{} ({:%Y-%m-%d})", verdict.passed() ? "all passed" : "FAILED: " + verdict.failed_text(),
                          fmt::localtime(static_cast<std::time_t>(verdict.checked_s)));
  if (!verdict.timed) text += ", without timing";
  std::vector<std::string> lengths;
  for (const auto& [place, length] : verdict.lengths)
    lengths.push_back(db::with_commas(length) + (place == kAnyPlace ? "" : " " + place));
  if (verdict.passed() && !lengths.empty()) text += fmt::format("; longest checked lengths: {}", fmt::join(lengths, ", "));
  if (!verdict.unchecked.empty()) text += fmt::format("; unchecked: {}", fmt::join(verdict.unchecked, ", "));
  return text;
}

nlohmann::json to_json(const StoredVerdict& verdict) {
  if (!verdict.passed() && !verdict.has_failed()) return {{"verdict", verdict.verdict}};
  return {{"verdict", verdict.verdict}, {"failed", verdict.failed},       {"unchecked", verdict.unchecked},
          {"timed", verdict.timed},     {"checked_s", verdict.checked_s}, {"lengths", verdict.lengths}};
}

void warn_of_verdicts(const std::vector<PluginInfo>& used, const Options& options) {
  const auto memory = user_verdicts();
  std::vector<std::string> failed, failed_ids, unchecked;
  for (const auto& info : used) {
    const auto verdict = memory.find(code_of(info));
    if (verdict.has_failed())
      failed.push_back(fmt::format("{} ({})", info.id, verdict.failed_text())), failed_ids.push_back(info.id);
    else if (!verdict.passed())
      unchecked.push_back(info.id);
  }
  if (!failed.empty())
    say("warning: these plugins failed checks: {}; tables mark their rows; `{}` shows the errors\n", fmt::join(failed, ", "),
        check_command(failed_ids, options));
  if (!unchecked.empty())
    say("never checked: {}; `{}` checks them\n", db::some_of(unchecked), check_command(unchecked, options));
}

}  // namespace ablate
