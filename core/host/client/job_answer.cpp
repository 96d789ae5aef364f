#include "core/host/client/job_answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/host/client/client.h"
#include "core/shared/crash_trace_mark.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using nlohmann::json;

/// The end of what a job printed, without the trace of its crash.
std::string own_words(const std::string& output) {
  constexpr std::size_t kMost = 400;
  const auto words = output.substr(0, output.rfind(kCrashTrace));
  return one_line(words.substr(words.size() - std::min(words.size(), kMost)));
}

json fault(const std::string& reason) { return {{"failed", reason}, {"fault", true}}; }

}  // namespace

json JobAnswer::end(const json& ended) const {
  if (ended.contains("not_started"))
    return {{"failed", ended.at("not_started").get<std::string>() + " (ulimit -n, ulimit -u)"}, {"fault", false}};
  if (const auto intrusion = ended.value("intrusion", ""); !intrusion.empty()) return fault(intrusion);
  if (ended.value("late", false)) {
    auto late = fault(fmt::format("did not end within {:g} s", timeout_s_));
    late["late"] = true;
    return late;
  }
  const auto why = reason_of_end(ended);
  // A message of its own says more than the exit code that follows from it; a signal says more than what came before it.
  if (last_.contains("failed") || (why.empty() && !last_.is_null())) return last_;
  auto reason = why.empty() ? "it ended without an answer" : why;
  if (crash_.is_object()) reason += " in " + one_line(crash_.value("crashed", ""), 200);
  if (const auto output = own_words(ended.value("output", "")); !output.empty()) reason += "; its last output: " + output;
  return fault(reason);
}

}  // namespace ablate
