#include "core/host/slurm/submission.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/util/error.h"
#include "core/util/json_file.h"
#include "core/util/real_path.h"
#include "core/util/sha256.h"
#include "core/util/shell_word.h"

namespace ablate::slurm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

fs::path jobs_folder(const fs::path& shared) { return shared / "jobs"; }
fs::path file_of(const fs::path& shared, const std::string& job) { return jobs_folder(shared) / (job + ".json"); }
fs::path end_file(const fs::path& shared, const std::string& job, int task) {
  return jobs_folder(shared) / fmt::format("{}_{}.end", job, task);
}

}  // namespace

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
    throw Error(
        fmt::format("{} is there: another `ablate run --slurm` is submitting, or was killed meanwhile. Remove it if none is.",
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
          "{} is no note of a submitted job, as `ablate run --slurm` writes it. Where that job has ended, remove it.",
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
    if (!last_word.empty() && last_word != "requeued") return last_word;  // 75 and 1 are all FAILED to Slurm
    if (queued->state == "CANCELLED") return "cancelled";
    if (queued->state == "TIMEOUT" || queued->state == "DEADLINE") return "time-limited";
    if (queued->state == "COMPLETED" && last_word.empty()) return "done";
    if (queued->state == "FAILED" || queued->state == "OUT_OF_MEMORY") return "failed";
    if (queued->state == "NODE_FAIL" || queued->state == "BOOT_FAIL") return "lost";
  }
  return last_word.empty() || last_word == "requeued" ? "lost" : last_word;
}

}  // namespace ablate::slurm
