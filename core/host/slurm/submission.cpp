#include "core/host/slurm/submission.h"

#include <fcntl.h>
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
#include "core/util/json_file.h"
#include "core/util/real_path.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"
#include "core/util/trimmed.h"
#include "core/util/whole_number.h"

namespace ablate::slurm {
namespace {

constexpr double kBetween_s = 30;  ///< seconds between queries; sites do not want more queries
constexpr double kSeldom_s = 300;  ///< seconds between queries while the end is far: an administrator may change the end

constexpr double kPatience_s = 20;
constexpr double kOwn_s = 5;  ///< seconds to wait for each answer of Slurm in next_of_own_job()

/// Runs squeue without the variables that would hide jobs. Throws nothing.
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
    throw Error(
        fmt::format("Slurm: {}: {}", program,
                    result.why.empty() ? fmt::format("exit code {}, without a message", result.exit_code) : result.why));
  return result;
}

CommandResult expect(const std::vector<std::string>& words) { return expect(words.front(), run_command(words, kPatience_s)); }

/// Returns the value of one line of `scontrol show config`, or "" if no line has the name.
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

namespace fs = std::filesystem;
using nlohmann::json;

fs::path jobs_folder(const fs::path& shared) { return shared / "jobs"; }
fs::path file_of(const fs::path& shared, const std::string& job) { return jobs_folder(shared) / (job + ".json"); }
fs::path end_file(const fs::path& shared, const std::string& job, int task) {
  return jobs_folder(shared) / fmt::format("{}_{}.end", job, task);
}

}  // namespace

double TimeLimit::margin_s(double whole_s) { return std::clamp(whole_s / 20, kLeast_s, kMost_s); }

void TimeLimit::look() {
  if (is_reported_ || !ask_) return;
  const double now_s = clock_.now_s();
  if (now_s >= next_ask_s_) {
    const auto left_s = ask_();
    if (left_s) end_s_ = now_s + *left_s;
    if (left_s && !whole_s_) whole_s_ = left_s;
    const bool is_far = left_s && *left_s > kMost_s + 2 * kSeldom_s;
    next_ask_s_ = now_s + (is_far ? kSeldom_s : kBetween_s);
  }
  if (!end_s_ || *end_s_ - now_s > margin_s(*whole_s_)) return;
  is_reported_ = true;
  near_(std::max(0.0, *end_s_ - now_s));
}

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
  // One task of each array has the array's id as its job id. Slurm would take this id for the whole array.
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
  constexpr double kAnswer_s = 3;  // the caller also has running trials to watch
  const auto job = own_job();
  if (job.empty()) return std::nullopt;
  const auto said = squeue({"--noheader", "-j", job, "-O", "TimeLeft"}, kAnswer_s);
  return said.succeeded() ? seconds_in(said.out) : std::nullopt;
}

int most_tasks() {
  const auto most = whole_number_of(value_of_config(expect({"scontrol", "show", "config"}).out, "MaxArraySize"));
  if (!most) throw Error("Slurm: found no MaxArraySize in the output of scontrol show config");
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
  if (!job.succeeded()) return Next::kRequeue;  // the requeue then fails, too, and reports why
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

std::map<int, std::vector<int>> dealt(const std::vector<int>& shares, int tasks) {
  std::map<int, std::vector<int>> all;
  for (std::size_t i = 0; i < shares.size(); ++i)
    all[static_cast<int>(i % static_cast<std::size_t>(tasks))].push_back(shares[i]);
  return all;
}

std::string job_name(const fs::path& shared) { return "ablate-" + sha256(real_path(shared).string()).substr(0, 12); }

Submitting::Submitting(const fs::path& shared) : file_(jobs_folder(shared) / "submitting") {
  std::error_code failed;
  fs::create_directories(file_.parent_path(), failed);
  const int descriptor = failed ? -1 : open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0 && (failed || errno != EEXIST))
    throw Error(fmt::format("{} cannot be written: {}", file_.string(), failed ? failed.message() : std::strerror(errno)));
  if (descriptor < 0)
    throw Error(fmt::format(
        "{} exists: another `ablate run --slurm` is submitting, or was killed. Remove the file if none is submitting.",
        file_.string()));
  close(descriptor);
}

Submitting::~Submitting() {
  std::error_code none;
  fs::remove(file_, none);
}

std::string script(const std::vector<std::string>& options, const std::map<int, std::vector<int>>& shares, int of,
                   const std::vector<std::string>& run) {
  std::string text =
      "#!/bin/bash\n# Written by `ablate run --slurm`: each task of the array computes its shares, one after the other.\n";
  for (const auto& option : options) text += fmt::format("#SBATCH {}\n", option);
  text += "case $SLURM_ARRAY_TASK_ID in\n";
  for (const auto& [task, own] : shares) text += fmt::format("{}) shares={} ;;\n", task, fmt::join(own, ","));
  text += "*) echo \"found task $SLURM_ARRAY_TASK_ID, which has no shares\" >&2; exit 2 ;;\nesac\nexec";
  for (const auto& word : run) text += " " + shell_word(word);
  return text + fmt::format(" --share \"$shares/{}\"\n", of);
}

fs::path new_script(const fs::path& shared) {
  std::error_code none;
  for (int number = 1;; ++number)
    if (auto file = jobs_folder(shared) / fmt::format("array-{}.sh", number); !fs::exists(file, none)) return file;
}

void remember(const fs::path& shared, const Submission& submission) {
  json shares = json::object();
  for (const auto& [task, own] : submission.shares) shares[std::to_string(task)] = own;
  const auto failed = put_json_file(file_of(shared, submission.job), {{"job", submission.job}, {"shares", shares}});
  if (!failed.empty())
    throw Error(fmt::format("job {} was submitted, but cannot be noted in {}: {}. `scancel {}` takes it back.", submission.job,
                            jobs_folder(shared).string(), failed, submission.job));
}

std::vector<Submission> submissions(const fs::path& shared) {
  std::vector<Submission> all;
  std::error_code failed;
  for (fs::directory_iterator entry(jobs_folder(shared), failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() != ".json") continue;
    const auto found = read_json_file(entry->path());
    try {
      Submission one{found.at("job"), {}};
      for (const auto& [task, own] : found.at("shares").items()) one.shares[std::stoi(task)] = own.get<std::vector<int>>();
      all.push_back(std::move(one));
    } catch (const std::exception&) {
      throw Error(fmt::format(
          "{} is no note of a submitted job, as `ablate run --slurm` writes it. If that job has ended, remove the file.",
          entry->path().string()));
    }
  }
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return std::pair(a.job.size(), a.job) < std::pair(b.job.size(), b.job); });
  return all;
}

void say_end(const fs::path& shared, const std::string& job, int task, const std::string& word) {
  put_json_file(end_file(shared, job, task), {{"end", word}});
}

std::string end_of(const fs::path& shared, const std::string& job, int task) {
  const auto found = read_json_file(end_file(shared, job, task));
  return found.is_object() && found.contains("end") && found["end"].is_string() ? found["end"].get<std::string>() : "";
}

std::string standing_of(const QueuedTask* queued, const std::string& last_word) {
  if (queued != nullptr) {
    if (queued->state == "PENDING" || queued->state.starts_with("REQUEUE"))
      return queued->reason.empty() || queued->reason == "None" ? "queued" : fmt::format("queued ({})", queued->reason);
    if (queued->is_live()) return "running";
    if (!last_word.empty() && last_word != "requeued") return last_word;  // Slurm reports exit codes 75 and 1 as FAILED
    if (queued->state == "CANCELLED") return "cancelled";
    if (queued->state == "TIMEOUT" || queued->state == "DEADLINE") return "time-limited";
    if (queued->state == "COMPLETED" && last_word.empty()) return "done";
    if (queued->state == "FAILED" || queued->state == "OUT_OF_MEMORY") return "failed";
    if (queued->state == "NODE_FAIL" || queued->state == "BOOT_FAIL") return "lost";
  }
  return last_word.empty() || last_word == "requeued" ? "lost" : last_word;
}

}  // namespace ablate::slurm
