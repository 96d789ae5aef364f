#include "core/trial/conformance/task/checks.h"

#include <algorithm>

#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/conformance/task/opened_files.h"
#include "core/trial/conformance/task/rows.h"

namespace ablate {
namespace {

constexpr std::int64_t kFewPerSplit = 2000;  // examples per split in a quick check

using Row = TaskRow<TaskSubject>;

bool is_stream(const TaskSubject& subject) { return subject.is_stream(); }
bool is_causal_stream(const TaskSubject& subject) { return subject.is_stream() && subject.info.causal; }
bool has_slices(const TaskSubject& subject) { return !subject.info.slices.empty(); }
bool has_seed(const TaskSubject& subject) { return subject.seed != SeedPromise::kNone; }
bool has_files(const TaskSubject& subject) { return !subject.files.empty(); }

std::string unseeded(const TaskSubject& subject, Splits) {
  return subject.other == nullptr ? "it needs one more load of the task, which a quick check leaves out" : "";
}
std::string untraced(const TaskSubject& subject, Splits) { return subject.untraced; }

/// Checks that must pass before any other check can run.
const Row kFirst[] = {{"info", kOfTask, kKept, task_info}, {"size", kOfEach, kKept, task_size}};

const Row kSecond[] = {{"fields, presence and targets", kOfEach, kKept, task_fields}};

const Row kRows[] = {
    {"info is the same after load", kOfTask, kKept, task_info_after_load},
    {"files", kOfTask, kKept, task_files},
    {"files are named", kOfTask, kKept, task_files_opened, nullptr, untraced},
    {"read by several threads", kOfTask, kKept, task_threads},
    {"more than one answer", kOfEach, kKept, task_answers},
    {"slices", kOfEach, kKept, task_slices, has_slices},
    {"repeatable, with 1 and 2 threads", kOfEach, kKept, task_repeatable},
    {"alone as in a batch", kOfEach, kKept, task_alone},
    {"index outside", kOfEach, kKept, task_outside},
    {"contiguous", kOfEach, kKept, task_contiguous, is_stream},
    {"past the end", kOfEach, kKept, task_past_the_end, is_stream},
    {"starts", kOfEach, kKept, task_starts, is_stream},
    {"next token", kOfEach, kKept, task_next_token, is_causal_stream},
    {"describe", kOfEach, kKept, task_describe},
    {"digest is stable", kOfTask, kKept, task_digest},
    {"another seed, another digest", kOfTask, kKept, task_digest_of_seed, has_seed, unseeded},
    {"other files, another digest", kOfTask, kKept, task_digest_of_files, has_files, too_large_to_edit},
    {"other parameters, another digest", kOfTask, kKept, task_digest_of_parameters, nullptr, too_large_to_edit},
    {"another seed", kOfEach, kKept, task_other_seed, has_seed, unseeded},
    {"cache", kOfTask, kKept, task_cache, nullptr, too_large_to_edit},
    {"splits are disjoint", kOfAnyTwo, kKept, task_disjoint},
    {"no duplicates", kOfEach, kKept, task_duplicates},
};

/// Runs the checks of all rows. Returns true if no check failed.
bool run_all(std::span<const Row> rows, const TaskSubject& subject, Checks& checks) {
  const auto before = checks.all().size();
  for (const auto& row : rows) run_row(row, subject, checks);
  return std::none_of(checks.all().begin() + static_cast<std::ptrdiff_t>(before), checks.all().end(),
                      [](const Check& check) { return check.failed(); });
}

/// Runs a step that all checks need, even if its own check is not selected. Returns true if the step was done.
bool prepare(Checks& checks, const char* name, const char* on, const std::function<void()>& act) {
  bool acted = false;
  const auto before = checks.all().size();
  const auto once = [&](Finding& finding) {
    finding.saw();
    act();
    acted = true;
  };
  checks.run(name, on, kKept, once);
  if (checks.all().size() == before) act(), acted = true;
  return acted;
}

}  // namespace

void TaskSubject::load() {
  const auto cache = folder("cache");
  untraced = quick ? "it needs one more load of the task, which a quick check leaves out" : tracing_refusal();
  if (untraced.empty())
    opened = opened_files(
        [&] {
          const auto traced = make(2, cache);
          traced->info();
          traced->files();
          traced->load();
        },
        std::filesystem::canonical(cache));
  auto changes = quick ? with_few_examples(kFewPerSplit) : nlohmann::json::object();
  try {
    task = make(2, cache, changes);
    info = task->info();
  } catch (const std::exception&) {  // perhaps the task needs more examples. The attempt below reports any other reason.
    changes = nlohmann::json::object();
    task = make(2, cache);
    info = task->info();
  }
  again = make(1, quick ? cache : folder("cache"), changes);
  files = task->files();
  task->load();
  keeps_data = !std::filesystem::is_empty(cache);
  again->info();
  again->load();
  if (!quick) load_other();
}

std::vector<std::string> task_check_names() {
  std::vector<std::string> names = {"load", "read"};
  for (const auto rows : {std::span<const Row>(kFirst), std::span<const Row>(kSecond), std::span<const Row>(kRows)})
    for (auto& name : names_of(rows)) names.push_back(std::move(name));
  return names;
}

void check_task(const Candidate& candidate, const std::filesystem::path& scratch, bool quick, Checks& checks,
                std::span<const std::string> elsewhere) {
  TaskSubject subject(candidate, scratch, quick);
  if (!prepare(checks, "load", "twice, with 2 threads and with 1", [&] { subject.load(); })) return;
  // Each group of checks runs only if the group before it passes.
  if (!run_all(kFirst, subject, checks) || !prepare(checks, "read", "examples of each split", [&] { subject.draw(); })) return;
  if (!run_all(kSecond, subject, checks)) return;
  run_all(kRows, subject, checks);
  candidate.exemptions->conclude(task_check_names(), checks, elsewhere);
}

}  // namespace ablate
