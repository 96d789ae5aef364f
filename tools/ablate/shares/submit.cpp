// ablate run --slurm: submits the missing shares as an array of jobs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "core/host/client/start_worker.h"
#include "core/host/shares/share_files.h"
#include "core/host/slurm/submission.h"
#include "core/util/json_file.h"
#include "core/util/regular_file.h"
#include "core/util/shell_word.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/shares/planned_shares.h"
#include "tools/ablate/shares/shares.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/verdict_text.h"

namespace ablate {
namespace {

namespace fs = std::filesystem;

constexpr int kUsualTasks = 8, kSharesOfTask = 4;

/// Splits options at blanks. Quotes protect blanks; no other character is special.
std::vector<std::string> words_in(const std::string& options) {
  std::vector<std::string> words;
  std::string word;
  char quote = '\0';
  bool has_word = false;
  for (const char c : options) {
    if (quote != 0 ? c == quote : c == '\'' || c == '"') {
      quote = quote == 0 ? c : '\0';
      has_word = true;
    } else if (quote == 0 && (c == ' ' || c == '\t')) {
      if (has_word) words.push_back(std::exchange(word, ""));
      has_word = false;
    } else {
      word += c;
      has_word = true;
    }
  }
  if (quote != 0) throw Error(fmt::format("--sbatch: found {}, expected the end of a quotation", options));
  if (has_word) words.push_back(word);
  for (const auto& one : words)
    for (const char* own :
         {"--array", "-a", "--job-name", "-J", "--clusters", "-M", "--parsable", "--wrap", "--output", "-o", "--signal"})
      if (one == own || one.starts_with(std::string(own) + "="))
        throw Error(fmt::format("--sbatch: found {}, which ablate sets itself", one));
  return words;
}

/// Returns the name of a task's log in the form that Slurm reads in a script. Throws Error for a name that Slurm cannot read.
std::string log_name(const fs::path& shared) {
  std::string name;
  for (const char c : (shared / "logs").string()) {
    if (c == '"' || static_cast<unsigned char>(c) < ' ')
      throw Error(
          fmt::format("the shared folder {} has a quotation mark or a control character in its name, which Slurm does not "
                      "accept; --shared names another folder",
                      path_text(shared)));
    name += c == '%' ? "%%" : c == '\\' ? "\\\\" : std::string(1, c);
  }
  return name + "/%A_%a.log";
}

/// Returns one line for each option of a script.
std::vector<std::string> sbatch_options(const SlurmArguments& asked, const fs::path& shared) {
  std::vector<std::string> options = {"--job-name=" + slurm::job_name(shared), fmt::format("--output=\"{}\"", log_name(shared)),
                                      "--open-mode=append", "--requeue"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) options.push_back(fmt::format("{}={}", name, shell_word(value)));
  };
  add("--partition", asked.partition);
  add("--account", asked.account);
  add("--gpus", asked.gpus);
  add("--cpus-per-task", asked.cpus);
  add("--mem", asked.mem);
  add("--time", asked.time);
  for (const auto& others : asked.sbatch)
    for (const auto& word : words_in(others)) options.push_back(shell_word(word));
  return options;
}

/// Returns the command of a task without its shares.
std::vector<std::string> task_command(const RunArguments& arguments, const Options& options, const fs::path& shared,
                                      const fs::path& script) {
  auto words = words_of_run(arguments, fs::absolute(arguments.file).string(), arguments.retry);
  words.insert(words.begin(), fs::read_symlink("/proc/self/exe").string());
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    for (const auto& value : values) words.insert(words.end(), {name, value});
  };
  for (const auto& folder : options.plugins) add("--plugins", {fs::absolute(folder).string()});
  if (arguments.at_a_time > 0) add("--jobs", {std::to_string(arguments.at_a_time)});
  if (arguments.timeout_s) add("--timeout", {fmt::format("{}", *arguments.timeout_s)});
  if (arguments.memory_bytes > 0) add("--memory", {std::to_string(arguments.memory_bytes)});
  if (!arguments.max_failures.empty()) add("--max-failures", {arguments.max_failures});
  if (!arguments.notify.empty()) add("--notify", {arguments.notify});
  add("--plan", {plan_of_shares(shared).string()});
  add("--shared", {shared.string()});
  add("--slurm-script", {script.string()});
  return words;
}

int tasks_of(const SlurmArguments& asked) { return asked.array > 0 ? asked.array : kUsualTasks; }

/// Plans shares for the first submission: no more shares than trials, so that no share is empty.
SharesPlan new_plan(const PlannedStudy& study, const RunArguments& arguments, const fs::path& database) {
  const int wanted = arguments.shares.shares > 0 ? arguments.shares.shares : kSharesOfTask * tasks_of(arguments.shares.slurm);
  const auto left = trials_left(planned_shares(study, database, 1));
  return planned_shares(study, database, std::clamp(wanted, 1, std::max(1, left)));
}

/// Returns the plan in the shared folder. Throws Error if it belongs to another study.
SharesPlan plan_in(const fs::path& shared, const PlannedStudy& study, const RunArguments& arguments) {
  const auto file = plan_of_shares(shared);
  auto plan = read_shares(file);
  const int asked = arguments.shares.shares;
  if (asked > 0 && std::min(asked, std::max(1, trials_left(plan))) != plan.shares)
    throw Error(
        fmt::format("--shares {}: {} has {} already; --shared names another folder", asked, file.string(), plan.shares));
  try {
    trials_of(plan, 0, study.wanted, file);
  } catch (const Error& error) {
    throw Error(fmt::format("{} `ablate merge {}` copies the results of its shares; --shared names another folder.",
                            error.what(), shell_word(shared.string())));
  }
  return plan;
}

/// Returns the shares whose jobs Slurm will still run.
std::set<int> shares_in_queue(const fs::path& shared) {
  const auto queue = slurm::queued(slurm::job_name(shared));  // queried first, because a task may submit itself again meanwhile
  const auto known = slurm::submissions(shared);
  std::set<int> taken;
  for (const auto& task : queue) {
    if (!task.is_live()) continue;
    const auto of = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.job == task.array; });
    if (of == known.end() || !of->shares.contains(task.task))
      throw Error(fmt::format("job {}_{} uses {} and is not recorded there: wait until it ends, or `scancel {}`", task.array,
                              task.task, shared.string(), task.array));
    taken.insert(of->shares.at(task.task).begin(), of->shares.at(task.task).end());
  }
  return taken;
}

}  // namespace

void submit_shares(const RunArguments& arguments, const Options& options) {
  const auto& asked = arguments.shares.slurm;
  const auto shared = fs::absolute(shared_folder(arguments)).lexically_normal();
  const int most = slurm::most_tasks();  // first, because it throws Error if Slurm is missing
  auto executors = local_workers();
  const auto database = options.database_file();
  const auto study = shareable(planned_study(launch_request(arguments, options), options, executors));
  warn_of_verdicts(study.used, options);
  const auto options_of_jobs = sbatch_options(asked, shared);
  const slurm::Submitting alone(shared);
  std::error_code none;
  const bool is_new = !fs::exists(plan_of_shares(shared), none);
  const auto plan = is_new ? new_plan(study, arguments, database) : plan_in(shared, study, arguments);
  const auto digest = digest_of(plan);
  const auto taken = shares_in_queue(shared);
  std::vector<int> missing;
  int ended = 0;
  for (int index = 0; index < plan.shares; ++index) {
    ShareEnd end;
    const bool has_ended = read_end(end_of_share(shared, index), digest, end);
    if (has_ended) ++ended;
    if (!taken.contains(index) && (!has_ended || (end.failed > 0 && !arguments.retry.empty()))) missing.push_back(index);
  }
  print("{}", shares_text(plan));
  const auto merge = next_command(options, {"merge", shared.string()});
  const auto watch = next_command(options, {"watch", "--shared", shared.string()});
  if (missing.empty()) {
    say("nothing to submit: {} of {} shares ended, {} in Slurm's queue\n", ended, plan.shares, taken.size());
    say("{}: {}\n", taken.empty() ? "into the history" : "how it goes", taken.empty() ? merge : watch);
    return;
  }
  const int wanted = std::min(tasks_of(asked), static_cast<int>(missing.size())), tasks = std::min(wanted, most);
  if (wanted > most) say("note: {} tasks instead of {}: MaxArraySize of this Slurm allows no more\n", tasks, wanted);
  const auto shares = slurm::dealt(missing, tasks);
  const auto file = slurm::new_script(shared);
  fs::create_directories(shared / "logs");
  const auto text = slurm::script(options_of_jobs, shares, plan.shares, task_command(arguments, options, shared, file));
  std::string job;
  try {
    if (is_new) write_shares(plan_of_shares(shared), plan);
    if (const auto failed = put_whole(file, text)) throw Error(fmt::format("{}: {}", file.string(), failed.message()));
    job = slurm::submit({"--job-name=" + slurm::job_name(shared), fmt::format("--array=0-{}", tasks - 1), file.string()});
  } catch (const Error&) {  // the next submission may use other shares
    fs::remove(file, none);
    if (is_new) fs::remove(plan_of_shares(shared), none);
    throw;
  }
  slurm::remember(shared, {job, shares});
  say("submitted job {}: {} task{} for {} share{}\n", job, tasks, tasks == 1 ? "" : "s", missing.size(),
      missing.size() == 1 ? "" : "s");
  say("how it goes: {}\nthen: {}\n", watch, merge);
}

}  // namespace ablate
