#include "core/host/client/job_outcome.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "core/shared/crash_trace_mark.h"
#include "core/util/one_line.h"

namespace ablate {
namespace {

using How = JobOutcome::How;

/// Returns the end of a job's output, without the trace of its crash.
std::string own_words(const std::string& output) {
  constexpr std::size_t kMost = 400;
  const auto words = output.substr(0, output.rfind(kCrashTrace));
  return one_line(words.substr(words.size() - std::min(words.size(), kMost)));
}

/// True for signals that come from outside the program: no fault in the program raises them. A plugin may also send itself such
/// a signal. The sender is unknown, so the plugin is not blamed.
bool is_sent_by_others(int status) {
  constexpr int kSent[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU};
  return WIFSIGNALED(status) && std::ranges::find(kSent, WTERMSIG(status)) != std::end(kSent);
}

}  // namespace

std::string reason_of(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WIFEXITED(status) && WEXITSTATUS(status) != 0) return fmt::format("exit code {}", WEXITSTATUS(status));
  return "";
}

bool HeardOfJob::take(const nlohmann::json& data) {
  if (data.contains("failed")) return failed_ = from_json<Failed>(data), false;
  if (data.contains("crashed")) return crashed_ = one_line(from_json<Crashed>(data).crashed, 200), false;
  return true;
}

std::optional<JobOutcome> HeardOfJob::end(const Event& ended) const {
  if (const auto* none = std::get_if<NotStartedEvent>(&ended))
    return JobOutcome{How::kNotStarted, none->not_started, "", false};
  const auto* one = std::get_if<EndedEvent>(&ended);
  if (one == nullptr) return std::nullopt;
  auto outcome = end_of(*one);
  outcome.output = one->output;
  outcome.cpu_s = one->cpu_s;
  return outcome;
}

JobOutcome HeardOfJob::end_of(const EndedEvent& ended) const {
  auto end = reason_of(ended.status);
  if (!end.empty() && !ended.killed.empty()) end += ": " + ended.killed;
  if (!end.empty() && !crashed_.empty()) end += " in " + crashed_;
  if (!ended.intrusion.empty()) return {How::kIntruded, ended.intrusion, "", true};
  // An answer counts even after the time limit: the job had finished before it could be ended.
  if (answered_ && end.empty() && !failed_) return {};
  if (!ended.memory.empty()) return {.how = How::kKilled, .why = ended.memory, .of_memory = true};
  if (ended.late) return {How::kLate, "", "", true};
  // The job's own message says more than the exit code that follows it.
  if (failed_) {
    const bool of_memory = failed_->ran_out_of.has_value();
    return {.how = How::kThrew,
            .why = of_memory ? fmt::format("{} did not suffice: {}", *failed_->ran_out_of, failed_->failed) : failed_->failed,
            .signal = WIFSIGNALED(ended.status) ? end : "",
            .fault = failed_->fault,
            .of_memory = of_memory,
            .was_refused_host = failed_->ran_out_of == Failed::kHost && !WIFSIGNALED(ended.status)};
  }
  if (is_sent_by_others(ended.status)) return {How::kKilled, end, "", false};
  return {end.empty() ? How::kSilent : How::kCrashed, end, "", true};
}

std::string failure_text(const JobOutcome& outcome, double timeout_s) {
  const auto with_output = [&](const std::string& why) {
    const auto words = own_words(outcome.output);
    return words.empty() ? why : why + "; its last output: " + words;
  };
  switch (outcome.how) {
    case How::kDone:
      return "";
    case How::kNotStarted:
      return outcome.why + " (ulimit -n, ulimit -u)";
    case How::kLate:
      return fmt::format("did not end within {:g} s", timeout_s);
    case How::kCrashed:
    case How::kKilled:
      return with_output(outcome.why);
    case How::kSilent:
      return with_output("it ended without an answer");
    case How::kThrew:
    case How::kIntruded:
    case How::kLost:
      break;
  }
  return outcome.why;
}

}  // namespace ablate
