// ablate run --slurm: the shares that are missing, as an array of jobs.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <wordexp.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/host/client/start_worker.h"
#include "core/host/shares/share_place.h"
#include "core/host/slurm/submission.h"
#include "core/util/kept_json.h"
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

/// As a shell takes them; nothing is run for it.
std::vector<std::string> words_in(const std::string& options) {
  wordexp_t found{};
  if (wordexp(options.c_str(), &found, WRDE_NOCMD) != 0)
    throw Error(fmt::format("--sbatch: found {}, expected options of sbatch as a shell takes them", options));
  std::vector<std::string> words(found.we_wordv, found.we_wordv + found.we_wordc);
  wordfree(&found);
  return words;
}

/// For a script: a line each.
std::vector<std::string> sbatch_options(const SlurmArguments& asked, const fs::path& shared) {
  std::vector<std::string> options = {"--job-name=" + slurm::job_name(shared),
                                      fmt::format("--output=\"{}\"", (shared / "logs" / "%A_%a.log").string()),
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

/// The command of a task, but for its shares.
std::vector<std::string> task_command(const RunArguments& arguments, const Options& options, const fs::path& shared,
                                      const fs::path& script) {
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(), "run", fs::absolute(arguments.file).string()};
  const auto add = [&](const char* name, const std::vector<std::string>& values) {
    for (const auto& value : values) words.insert(words.end(), {name, value});
  };
  for (const auto& folder : options.plugins) add("--plugins", {fs::absolute(folder).string()});
  add("--set", arguments.overrides);
  add("--retry", arguments.retry);
  if (arguments.jobs > 0) add("--jobs", {std::to_string(arguments.jobs)});
  if (arguments.timeout_s) add("--timeout", {fmt::format("{}", *arguments.timeout_s)});
  if (arguments.memory_bytes > 0) add("--memory", {std::to_string(arguments.memory_bytes)});
  if (!arguments.max_failures.empty()) add("--max-failures", {arguments.max_failures});
  if (!arguments.notify.empty()) add("--notify", {arguments.notify});
  add("--plan", {plan_of_shares(shared).string()});
  add("--shared", {shared.string()});
  add("--slurm-script", {script.string()});
  return words;
}

/// The plan that the shared folder has, or a new one. Throws Error where it is another's.
SharesPlan plan_in(const fs::path& shared, const PlannedStudy& study, const RunArguments& arguments, const fs::path& database) {
  const auto file = plan_of_shares(shared);
  if (std::error_code none; !fs::exists(file, none)) {
    const int tasks = arguments.shares.slurm.array > 0 ? arguments.shares.slurm.array : kUsualTasks;
    const int wanted = arguments.shares.shares > 0 ? arguments.shares.shares : kSharesOfTask * tasks;
    auto plan = planned_shares(study, database, 1);
    const auto left = std::count_if(plan.trials.begin(), plan.trials.end(), [](const auto& one) { return one.share >= 0; });
    plan = planned_shares(study, database, std::clamp(wanted, 1, static_cast<int>(std::max<std::ptrdiff_t>(1, left))));
    fs::create_directories(shared / "jobs");
    fs::create_directories(shared / "logs");
    write_shares(file, plan);
    return plan;
  }
  auto plan = read_shares(file);
  if (arguments.shares.shares > 0 && arguments.shares.shares != plan.shares)
    throw Error(fmt::format("--shares {}: {} has {} already; --shared names another folder", arguments.shares.shares,
                            file.string(), plan.shares));
  try {
    trials_of(plan, 0, study.chosen, file);
  } catch (const Error& error) {
    throw Error(fmt::format("{} What its shares have done, `ablate merge {}` takes; --shared names another folder.",
                            error.what(), shell_word(shared.string())));
  }
  return plan;
}

/// Shares that jobs have which Slurm will still run, by itself.
std::set<int> shares_in_queue(const fs::path& shared) {
  const auto known = slurm::submissions(shared);
  std::set<int> taken;
  for (const auto& task : slurm::queued(slurm::job_name(shared))) {
    if (!task.is_live()) continue;
    const auto of = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.job == task.array; });
    if (of == known.end() || !of->shares.contains(task.task))
      throw Error(fmt::format("job {}_{} works for {} and is not noted there: wait for its end, or `scancel {}`", task.array,
                              task.task, shared.string(), task.array));
    taken.insert(of->shares.at(task.task).begin(), of->shares.at(task.task).end());
  }
  return taken;
}

}  // namespace

void submit_shares(const RunArguments& arguments, const Options& options) {
  const auto& asked = arguments.shares.slurm;
  const auto shared =
      fs::absolute(arguments.shares.shared.empty() ? default_shared_folder(arguments.file) : fs::path(arguments.shares.shared))
          .lexically_normal();
  const int most = slurm::most_tasks();  // first: without Slurm nothing else has a use
  auto executors = local_workers();
  const auto database = options.database_file();
  const auto study = plan_study(
      launch_request(arguments, options), [&] { return find_libraries(options, executors); },
      [&](const std::string& id) { return where_plugins_are(options, id); }, executors, say_line);
  warn_of_verdicts(study.used, options);
  const auto plan = plan_in(shared, study, arguments, database);
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
  const int wanted = asked.array > 0 ? asked.array : kUsualTasks;
  const int tasks = std::min({wanted, most, static_cast<int>(missing.size())});
  if (std::min(wanted, static_cast<int>(missing.size())) > most)
    say("note: {} tasks instead of {}: MaxArraySize of this Slurm allows no more\n", tasks, wanted);
  const auto shares = slurm::dealt(missing, tasks);
  const auto file = slurm::new_script(shared);
  const auto text =
      slurm::script(sbatch_options(asked, shared), shares, plan.shares, task_command(arguments, options, shared, file));
  fs::create_directories(file.parent_path());
  fs::create_directories(shared / "logs");
  if (const auto failed = put_whole(file, text)) throw Error(fmt::format("{}: {}", file.string(), failed.message()));
  const auto job = slurm::submit({fmt::format("--array=0-{}", tasks - 1), file.string()});
  slurm::remember(shared, {job, shares});
  say("submitted job {}: {} task{} for {} share{}\n", job, tasks, tasks == 1 ? "" : "s", missing.size(),
      missing.size() == 1 ? "" : "s");
  say("how it goes: {}\nthen: {}\n", watch, merge);
}

}  // namespace ablate
