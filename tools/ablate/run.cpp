// ablate run: a study's trials, those that the history does not have yet.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <thread>

#include "core/host/proof/prove.h"
#include "core/host/scheduler/plan_text.h"
#include "core/host/scheduler/recording.h"
#include "core/host/scheduler/scheduler.h"
#include "core/host/scheduler/start_worker.h"
#include "core/host/study/diagnostics.h"
#include "core/host/study/used_plugins.h"
#include "core/util/shell_word.h"
#include "core/util/stop_on_signal.h"
#include "db/history/damage.h"
#include "db/history/place.h"
#include "db/history/proofs.h"
#include "db/history/reader.h"
#include "tools/ablate/commands.h"
#include "tools/ablate/dry_run.h"
#include "tools/ablate/not_empty.h"
#include "tools/ablate/questions/questions.h"
#include "tools/ablate/streams.h"
#include "tools/ablate/verdict_text.h"
#include "tools/ablate/whole_number.h"

namespace ablate {
namespace {

using Chosen = std::vector<const PlannedTrial*>;

/// What the history says of the keys that begin so: those that --prove gave to the same trials.
std::vector<std::string> keys_by_proof(const std::string& digits, const std::filesystem::path& database) try {
  return db::proven_for(db::Reader(database), digits);
} catch (const Error&) {  // there is none yet, or one of before proofs
  return {};
}

/// The trials of which a key, today's or one that a proof has kept, begins with one of `only`; all of them where it is empty.
/// Throws Error for one that begins none.
Chosen choose(const std::vector<PlannedTrial>& planned, const std::vector<std::string>& only,
              const std::filesystem::path& database) {
  std::set<const PlannedTrial*> wanted;
  for (const auto& digits : only) {
    if (digits.size() < 4 || digits.find_first_not_of("0123456789abcdef") != std::string::npos)
      throw Error(
          fmt::format("--only {}: expected the first digits of a trial's key, at least 4 of 0-9 and a-f, as "
                      "`ablate show` and --dry-run show it",
                      digits));
    bool found = false;
    for (const auto& trial : planned)
      if (trial.key.starts_with(digits)) wanted.insert(&trial), found = true;
    if (!found)
      for (const auto& key : keys_by_proof(digits, database))
        for (const auto& trial : planned)
          if (trial.key == key) wanted.insert(&trial), found = true;
    if (found) continue;
    std::string some;
    for (std::size_t i = 0; i < std::min<std::size_t>(planned.size(), 5); ++i)
      some += (i == 0 ? "" : ", ") + planned[i].key.substr(0, kShownDigits);
    throw Error(
        fmt::format("--only {}: no trial of the study has such a key; its keys are {}{} (a key changes with the "
                    "values, the plugins' code and the data; --dry-run shows all)",
                    digits, some, planned.size() > 5 ? ", ..." : ""));
  }
  Chosen chosen;
  for (const auto& trial : planned)
    if (only.empty() || wanted.contains(&trial)) chosen.push_back(&trial);
  return chosen;
}

int most_threads(const Chosen& chosen) {
  std::int64_t most = 1;
  for (const auto* planned : chosen) most = std::max(most, planned->trial->spec.train.threads);
  return static_cast<int>(most);
}

/// Says what is to be said of libraries that the study uses: anyone can write it, ... @return its plugins
std::vector<PluginInfo> warn_of_used(const Study& study, const Catalog& catalog, const std::vector<FoundLibrary>& libraries) {
  std::set<std::filesystem::path> used;
  std::vector<PluginInfo> plugins;
  for (const auto& trial : study.trials)
    for (const auto& use : used_plugins(trial.spec, catalog))
      if (used.insert(use.info->path).second) plugins.push_back(*use.info);
  for (const auto& library : libraries)
    for (const auto& warning : library.warnings)
      if (used.contains(library.path)) say("warning: {}: {}\n", path_text(library.path), warning);
  return plugins;
}

/// Of two studies of one name the one that ran last has the table.
void warn_of_namesake(const Study& study, const std::filesystem::path& database) try {
  std::error_code none;
  if (!std::filesystem::exists(database, none)) return;
  const db::Reader history(database);
  const auto other = history.study_file(study.name);
  if (other.empty() || other == std::filesystem::absolute(study.file) || history.study_text(study.name) == study.text) return;
  say("warning: in {} the experiment {} is of another file, {}: its trials are left out of the table from now on; "
      "--set experiment.name=NAME keeps them apart\n",
      path_text(database), db::one_row(study.name), db::one_row(other));
} catch (const Error&) {  // who opens it for writing says what is wrong
}

int prove_study(const Study& study, const Chosen& chosen, int least, std::unique_ptr<WorkerClient>& worker, db::Store& store,
                const RunOptions& how, const Catalog& catalog, const Options& options) {
  const auto proof = prove(chosen, least, worker, store, how, catalog);
  for (const auto& line : proof.left_out) say("warning: {}\n", line);
  for (const auto& difference : proof.differences) say("{}\n", difference);
  if (!proof.differences.empty()) {
    say("{}: not proven: of {} repeated trials not every number is the same; the history is as it was\n", study.name,
        proof.repeated);
    return static_cast<int>(ExitCode::kTrialsFailed);
  }
  how.record(store);
  say("{}: proven by {} repeated trial{}, the same to the last bit: {} done trial{} of the history stay{} valid\n", study.name,
      proof.repeated, proof.repeated == 1 ? "" : "s", proof.kept, proof.kept == 1 ? "" : "s", proof.kept == 1 ? "s" : "");
  for (const auto& line : proof.left) say("not done under the new code: {}\n", line);
  if (!proof.left.empty()) say("a study that has these values may prove them likewise\n");
  if (proof.proofs.empty()) say("another run has proven the same meanwhile: its proof stands\n");
  for (const auto number : proof.proofs)
    say("proof {}, withdrawn by: {}\n", number, next_command(options, {"run", "--unprove", std::to_string(number)}));
  return 0;
}

int unprove(std::int64_t number, const std::filesystem::path& database) {
  if (std::error_code none; !std::filesystem::exists(database, none)) db::Reader says_so(database);
  const auto [trials, resting] = db::Store(database).withdraw_proof(number);
  const auto count = [](std::size_t n) { return fmt::format("{} trial{} {}", n, n == 1 ? "" : "s", n == 1 ? "is" : "are"); };
  say("proof {} is withdrawn: {} again not done under the new code\n", number, count(trials));
  for (const auto& [later, those] : resting)
    say("proof {} rested on it for some: {} again not done under its new code either\n", later, count(those));
  return 0;
}

}  // namespace

std::string next_command(const Options& options, std::vector<std::string> words) {
  words.insert(words.begin(), "ablate");
  if (const auto file = options.database_file().string(); !options.database.empty() || file != kDefaultDatabase)
    words.insert(words.end(), {"--db", file});  // another shell may have no ABLATE_DB
  for (auto& word : words) word = shell_word(word);
  return fmt::format("{}", fmt::join(words, " "));
}

namespace {

/// @param dry_run gets what --dry-run prints @return the exit code
int run_or_plan(const RunArguments& arguments, const Options& options, std::string& dry_run) {
  db::check_place(options.database_file());  // before data is prepared for hours
  db::expect_sound(options.database_file());
  std::unique_ptr<WorkerClient> worker;
  const auto libraries = find_libraries(options, worker);
  for (const auto& library : libraries)
    if (!library.refusal.empty()) say("warning: {} is left out: {}\n", path_text(library.path), db::one_row(library.refusal));
  const auto catalog = usable(libraries, options);
  const auto study = load_study(arguments.file, arguments.overrides, catalog);
  const auto note = [](const std::string& text) { say("{}\n", text); };
  const ManyTrials many(study.name, study.trials.size(), note);
  many.begin("checking their tasks and naming each by its key");
  const auto used = warn_of_used(study, catalog, libraries);
  const auto cache = cache_folder();
  const TaskMemory memory(cache.empty() ? cache : cache / "data");
  check_tasks(study, catalog, worker, memory);
  const auto planned = plan(study, catalog, worker, memory, {}, [&](std::size_t done) { many.so_far(done, "named"); });
  const auto chosen = choose(planned, arguments.only, options.database_file());
  warn_of_verdicts(used, options);
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), threads = most_threads(chosen);
  RunOptions how{.jobs = arguments.jobs > 0 ? arguments.jobs : std::max(1, cores / threads),
                 .timeout_s = study.timeout_s,
                 .again = arguments.again,
                 // It may be what a worker refuses: the tasks are asked again the next time.
                 .forget = [&] { forget_tasks(study, catalog, memory); },
                 .verdicts = user_verdicts()};
  if (arguments.dry_run) {
    dry_run = dry_run_text(study, chosen, how, options.database_file(), many);
    return 0;
  }
  if (arguments.table.empty()) warn_of_namesake(study, options.database_file());  // a bench's studies share one name
  auto store = open_history(options.database_file());
  const Recording recording(study, planned, known_verdicts(used), many);
  // What is recorded in another file, in place of one that was taken away, holds results: a signal waits for its end.
  how.record = [&](db::Store& into) { recording.write(into, &into == &store && arguments.prove == 0); };

  std::vector<PlannedTrial> to_run;
  std::vector<std::string> keys;
  for (const auto* trial : chosen) to_run.push_back(*trial), keys.push_back(trial->key);
  const bool is_idle =
      !arguments.again && arguments.prove == 0 && store.done(keys).size() == std::set(keys.begin(), keys.end()).size();
  if (!is_idle && !worker) worker = start_worker(note);
  stop_if_asked();
  if (arguments.prove > 0) return prove_study(study, chosen, arguments.prove, worker, store, how, catalog, options);
  if (const int together = is_idle ? 0 : std::min({how.jobs, worker->most_jobs(), static_cast<int>(chosen.size())});
      together * threads > cores)
    say("warning: {} trials of {} thread{} on {} cores: their step times will not compare with others'\n", together, threads,
        threads == 1 ? "" : "s", cores);
  if (evaluation_share(chosen) > 0.5) say("{}\n", evaluation_text(chosen));
  if (const auto text = positions_text(chosen); !text.empty()) say("{}\n", text);
  const auto summary = run_trials(to_run, worker, store, how);
  say("{}: {} done, {} done before, {} failed{}\n", study.name, summary.done, summary.skipped, summary.failed,
      !summary.interrupted ? ""
      : arguments.again    ? "; interrupted"
                           : "; interrupted: the same command goes on where it stopped");
  if (summary.failed > 0) say("why: {}\n", next_command(options, {"attempts", study.name, "--failed"}));
  if (!summary.interrupted)
    say("table: {}\n",
        next_command(options, arguments.table.empty() ? std::vector<std::string>{"table", study.name} : arguments.table));
  return static_cast<int>(summary.exit_code());
}

}  // namespace

int run_study(const RunArguments& arguments, const Options& options) {
  std::string dry_run;
  int code = 0;
  try {
    const StopOnSignal stop;
    code = run_or_plan(arguments, options, dry_run);
  } catch (const Interrupted& interrupted) {
    throw Error(fmt::format("{} before the first trial; the same command begins anew", interrupted.what()), interrupted.code());
  }
  if (!dry_run.empty()) print("{}", dry_run);  // where a reader takes none of it, a signal ends it as it ends any writer
  return code;
}

void add_run(CLI::App& app, const Options& options, int& exit_code) {
  auto* command =
      app.add_subcommand("run", "Run a study's trials; those that are done already are skipped")->group("Run ablations");
  auto arguments = std::make_shared<RunArguments>();
  auto* study = command->add_option("STUDY", arguments->file, "the TOML file")->check(not_empty())->type_name("");
  command->add_option("--set", arguments->overrides, "PATH=VALUE: replaces a value or an axis of the study; repeat it for more")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--only", arguments->only,
                   "only the trials whose keys begin with these digits, at least 4; the experiment keeps the others; repeat it "
                   "for more")
      ->type_name("KEY")
      ->allow_extra_args(false);
  command->add_option("-j,--jobs", arguments->jobs, "trials at a time; default: cores / train.threads")
      ->check(whole_number(1, 4096, "trials at a time"))
      ->type_name("N");
  command->add_flag("--again", arguments->again,
                    "run what is done already once more, as for new timings; tables take a trial's latest attempt");
  command->add_flag(
      "--dry-run", arguments->dry_run,
      "check everything that a run checks before it starts, data included, and print the trials with their keys; nothing is "
      "run or recorded");
  command
      ->add_option(
          "--prove", arguments->prove,
          "after an edit of code that should change no number: repeat N trials or more that were done under the old code, each "
          "value of the edited plugins' parameters once, on the same machine; where they are the same to the last bit, the "
          "trials with these values stay done")
      ->check(whole_number(1, 100000, "trials to repeat"))
      ->type_name("N")
      ->excludes("--again", "--dry-run");
  auto* withdrawn = command
                        ->add_option("--unprove", arguments->unprove,
                                     "alone, without a STUDY: withdraw the proof of that number; what stayed done by it is not "
                                     "done")
                        ->check(whole_number(1, 999999999, "a proof's number"))
                        ->type_name("NUMBER");
  command->footer("Example:\n  ablate run study.toml --set train.steps=50 --dry-run");
  command->callback([=, &options, &exit_code] {
    if (withdrawn->empty() && study->empty()) throw CLI::RequiredError("STUDY");
    if (withdrawn->empty()) return static_cast<void>(exit_code = run_study(*arguments, options));
    for (const auto* option : command->get_options())
      if (option != withdrawn && !option->empty()) throw CLI::ExcludesError("--unprove", option->get_name());
    exit_code = unprove(arguments->unprove, options.database_file());
  });
}

}  // namespace ablate
