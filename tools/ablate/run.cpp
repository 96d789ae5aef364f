// ablate run: a study's trials, those that the history does not have yet.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <thread>

#include "core/scheduler/scheduler.h"
#include "tools/ablate/commands.h"

namespace ablate {
namespace {

void print_trials(const Study& study) {
  fmt::print("{}: {} trial{}\n", study.name, study.trials.size(), study.trials.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < study.trials.size(); ++i) fmt::print("{:>5}  {}\n", i + 1, study.trials[i].label);
  fmt::print("\nThe first of them in full:\n{}\n", study.trials.front().resolved.dump(2));
}

int most_threads(const Study& study) {
  std::int64_t most = 1;
  for (const auto& trial : study.trials) most = std::max(most, trial.resolved.at("train").at("threads").get<std::int64_t>());
  return static_cast<int>(most);
}

/// What is to be said of libraries that the study uses (anyone can write it, ...).
void warn_of_used(const Study& study, const Catalog& catalog, const std::vector<FoundLibrary>& libraries) {
  std::set<std::filesystem::path> used;
  for (const auto& trial : study.trials)
    for (const auto& [section, info] : used_plugins(trial.resolved, catalog)) used.insert(info->path);
  for (const auto& library : libraries)
    for (const auto& warning : library.warnings)
      if (used.contains(library.path)) std::cerr << "warning: " << library.path.string() << ": " << warning << "\n";
}

}  // namespace

std::string again(const Options& options, const std::string& command) {
  return "ablate " + command + (options.database.empty() ? "" : " --db " + options.database);
}

int run_study(const RunArguments& arguments, const Options& options) {
  std::unique_ptr<WorkerClient> worker;
  const auto libraries = find_libraries(options, worker);
  for (const auto& library : libraries)
    if (!library.refusal.empty())
      std::cerr << "warning: " << library.path.string() << " is left out: " << library.refusal << "\n";
  const auto catalog = catalog_of(libraries);
  const auto study = load_study(arguments.file, arguments.overrides, catalog);
  warn_of_used(study, catalog, libraries);
  if (!worker) worker = std::make_unique<WorkerClient>();
  check_tasks(study, catalog, *worker);
  if (arguments.dry_run) {
    print_trials(study);
    return 0;
  }
  const auto planned = plan(study, catalog, *worker);
  db::Store store(options.database_file());
  const auto record = [&](db::Store& into) {
    const auto experiment = into.put_experiment(
        {study.name, study.description, std::filesystem::absolute(study.file).string(), study.text, study.overrides});
    std::vector<std::pair<std::string, nlohmann::json>> rows;
    for (const auto& trial : planned) rows.emplace_back(trial.key, trial.trial->resolved);
    into.put_trials(experiment, rows);
    std::vector<db::PublishedValue> published;
    for (const auto& [trial, metric, value, source] : study.published)
      published.push_back({planned.at(trial).key, metric, value, source});
    into.put_published(experiment, published);
  };

  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const RunOptions how{.jobs = arguments.jobs > 0 ? arguments.jobs : std::max(1, cores / most_threads(study)),
                       .timeout_s = study.timeout_s,
                       .again = arguments.again,
                       .record = record};
  if (how.jobs * most_threads(study) > cores)
    fmt::print(stderr, "warning: {} trials of {} thread{} on {} cores: their step times will not compare with other runs'\n",
               how.jobs, most_threads(study), most_threads(study) == 1 ? "" : "s", cores);
  const auto summary = run_trials(planned, worker, store, how);
  fmt::print(stderr, "{}: {} done, {} done before, {} failed{}\n", study.name, summary.done, summary.skipped, summary.failed,
             !summary.interrupted ? ""
             : arguments.again    ? "; interrupted"
                                  : "; interrupted: the same command goes on where it stopped");
  if (summary.failed > 0) fmt::print(stderr, "why: {}\n", again(options, fmt::format("runs {} --failed", study.name)));
  if (!summary.interrupted)
    fmt::print(stderr, "table: {}\n", again(options, arguments.table.empty() ? "table " + study.name : arguments.table));
  return static_cast<int>(summary.exit_code());
}

void add_run(CLI::App& app, const Options& options, int& exit_code) {
  auto* command =
      app.add_subcommand("run", "Run a study's trials; those that are done already are skipped")->group("Run ablations");
  auto arguments = std::make_shared<RunArguments>();
  command->add_option("STUDY", arguments->file, "the TOML file (docs/studies.md)")->required()->type_name("");
  command->add_option("--set", arguments->overrides, "PATH=VALUE: replaces a value or an axis of the study; repeat it for more")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command->add_option("-j,--jobs", arguments->jobs, "trials at a time; default: cores / train.threads")
      ->check(CLI::Range(1, 4096))
      ->type_name("N");
  command->add_flag("--again", arguments->again,
                    "run what is done already once more, as for new timings; tables take a trial's latest run");
  command->add_flag("--dry-run", arguments->dry_run, "check everything and print the trials; nothing is run or written");
  command->footer("Example:\n  ablate run experiments/quickstart.toml --set train.steps=50 --dry-run");
  command->callback([=, &options, &exit_code] { exit_code = run_study(*arguments, options); });
}

}  // namespace ablate
