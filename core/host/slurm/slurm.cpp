#include "core/host/slurm/slurm.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "core/util/command.h"
#include "core/util/error.h"
#include "core/util/trimmed.h"
#include "core/util/whole_number.h"

namespace ablate::slurm {
namespace {

constexpr double kPatience_s = 20;
constexpr double kOwn_s = 5;  ///< for an answer while a stop is under way

/// Throws nothing. Its variables would hide jobs.
CommandResult squeue(std::vector<std::string> words, double limit_s) {
  for (const char* variable :
       {"SQUEUE_ACCOUNT", "SQUEUE_ALL", "SQUEUE_CLUSTERS", "SQUEUE_FORMAT", "SQUEUE_FORMAT2", "SQUEUE_NAMES", "SQUEUE_NODES",
        "SQUEUE_PARTITION", "SQUEUE_QOS", "SQUEUE_STATES", "SQUEUE_USERS"})
    unsetenv(variable);
  words.insert(words.begin(), "squeue");
  return run_command(std::move(words), limit_s);
}

const CommandResult& expect(const std::string& program, const CommandResult& result) {
  if (result.why == std::strerror(ENOENT))
    throw Error(
        fmt::format("Slurm: found no program {}; --slurm needs sbatch, squeue and scontrol in the PATH. Without Slurm, "
                    "`ablate run STUDY.toml --plan FILE --shares N` shares a grid out over machines",
                    program));
  if (!result.succeeded())
    throw Error(fmt::format("Slurm: {}: {}", program,
                            result.why.empty() ? fmt::format("exit code {}, and no word why", result.exit_code) : result.why));
  return result;
}

CommandResult expect(const std::vector<std::string>& words) { return expect(words.front(), run_command(words, kPatience_s)); }

/// A line of `scontrol show config`.
std::string value_of_config(const std::string& config, const std::string& name) {
  std::istringstream lines(config);
  for (std::string line; std::getline(lines, line);)
    if (const auto at = line.find('='); at != std::string::npos && trimmed(line.substr(0, at)) == name)
      return trimmed(line.substr(at + 1));
  return "";
}

bool is_any_of(const std::string& word, std::initializer_list<const char*> words) {
  return std::any_of(words.begin(), words.end(), [&](const char* one) { return word == one; });
}

}  // namespace

bool QueuedTask::is_live() const {
  return is_any_of(state, {"PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "STOPPED", "SIGNALING", "STAGE_OUT",
                           "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT", "RESIZING", "RESV_DEL_HOLD"});
}

std::vector<QueuedTask> queued_in(const std::string& text) {
  std::vector<QueuedTask> tasks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> fields;
    std::istringstream parts(line);
    for (std::string field; std::getline(parts, field, '|');) fields.push_back(trimmed(field));
    if (fields.size() < 3 || !whole_number_of(fields[0])) continue;
    const auto task = fields[1] == "N/A" ? std::optional(QueuedTask::kAll) : whole_number_of(fields[1]);
    if (task) tasks.push_back({fields[0], *task, fields[2], fields.size() > 3 ? fields[3] : ""});
  }
  return tasks;
}

std::string own_job() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  // The number of the job alone means the whole array where it is that of the array.
  if (const auto array = variable("SLURM_ARRAY_JOB_ID"), task = variable("SLURM_ARRAY_TASK_ID");
      !array.empty() && !task.empty())
    return array + "_" + task;
  return variable("SLURM_JOB_ID");
}

std::vector<QueuedTask> queued(const std::string& name) {
  const auto said = squeue({"--noheader", "--array", "--states=all", fmt::format("--user={}", getuid()), "--name=" + name,
                            std::string("--format=") + kQueueFormat},
                           kPatience_s);
  return queued_in(expect("squeue", said).out);
}

std::optional<double> own_time_left() {
  constexpr double kAnswer_s = 3;  // who asks has trials to look after
  const auto job = own_job();
  if (job.empty()) return std::nullopt;
  const auto said = squeue({"--noheader", "-j", job, "-O", "TimeLeft"}, kAnswer_s);
  return said.succeeded() ? seconds_in(said.out) : std::nullopt;
}

int most_tasks() {
  const auto most = whole_number_of(value_of_config(expect({"scontrol", "show", "config"}).out, "MaxArraySize"));
  if (!most) throw Error("Slurm: scontrol show config tells no MaxArraySize");
  if (*most < 1) throw Error("Slurm: found MaxArraySize = 0, expected a Slurm that allows arrays of jobs");
  return *most;
}

std::string submit(std::vector<std::string> words) {
  words.insert(words.begin(), {"sbatch", "--parsable"});
  const auto said = trimmed(expect(words).out);
  auto job = said.substr(0, said.find(';'));  // "ID" or "ID;CLUSTER"
  if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos)
    throw Error(fmt::format("Slurm: sbatch said \"{}\", expected a job's number", said));
  return job;
}

std::string value_in(const std::string& line, const std::string& name) {
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (word.starts_with(name + "=")) return word.substr(name.size() + 1);
  return "";
}

std::optional<double> seconds_in(const std::string& time) {
  auto left = trimmed(time);
  double days = 0;
  if (const auto at = left.find('-'); at != std::string::npos) {
    const auto found = whole_number_of(left.substr(0, at));
    if (!found) return std::nullopt;
    days = *found;
    left = left.substr(at + 1);
  }
  double seconds = 0;
  std::istringstream parts(left);
  for (std::string part; std::getline(parts, part, ':');) {
    const auto found = whole_number_of(part);
    if (!found) return std::nullopt;
    seconds = seconds * 60 + *found;
  }
  return left.empty() ? std::nullopt : std::optional(days * 86400 + seconds);
}

Next next_of(const std::string& job, const std::string& partition_mode) {
  const auto state = value_in(job, "JobState"), preempted = value_in(job, "PreemptTime");
  if (state == "TIMEOUT" || value_in(job, "Reason") == "TimeLimit") return Next::kTimedOut;
  const bool is_preempted = state == "PREEMPTED" || !is_any_of(preempted, {"", "None", "Unknown", "N/A"});
  if (is_preempted) return partition_mode.starts_with("CANCEL") ? Next::kSubmit : Next::kBySlurm;
  return state == "RUNNING" ? Next::kRequeue : Next::kNothing;
}

Next next_of_own_job() {
  const auto job = run_command({"scontrol", "--oneliner", "show", "job", own_job()}, kOwn_s);
  if (!job.succeeded()) return Next::kRequeue;  // then that fails, too, and says why
  auto mode = value_in(run_command({"scontrol", "--oneliner", "show", "partition", value_in(job.out, "Partition")}, kOwn_s).out,
                       "PreemptMode");
  if (mode.empty() || mode == "OFF")
    mode = value_of_config(run_command({"scontrol", "show", "config"}, kOwn_s).out, "PreemptMode");
  return next_of(job.out, mode);
}

std::string requeue_own_job() {
  const auto result = run_command({"scontrol", "requeue", own_job()}, kPatience_s);
  return result.succeeded() ? "" : result.why.empty() ? "scontrol requeue failed" : result.why;
}

}  // namespace ablate::slurm
