#include "core/trial/conformance/task_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/trial/conformance/check_names.h"
#include "core/trial/conformance/exemptions.h"
#include "core/trial/conformance/likely_cause.h"
#include "core/trial/conformance/task_likely.h"

namespace ablate {
namespace {

constexpr Allowed kKept{0, "the contract (ablate/task.h)"};
constexpr Allowed kChance{0.25, "of what is left to 1: a split where one label is so common says little by its accuracy"};

constexpr NamedSplit kTrain = kSplits[0], kDev = kSplits[1], kTest = kSplits[2];
using Ons = std::vector<std::vector<NamedSplit>>;
const Ons kTask = {{}}, kEach = {{kTrain}, {kDev}, {kTest}}, kJudged = {{kDev}, {kTest}};
const Ons kAnyTwo = {{kTrain, kDev}, {kTrain, kTest}, {kDev, kTest}}, kNeighbours = {{kTrain, kDev}, {kDev, kTest}};

struct Row {
  const char* name;
  const Ons& on;
  const Allowed& allowed;
  void (*look)(const TaskSubject&, Splits, Finding&);
  /// Whether it is of tasks of this kind; null: of all.
  bool (*concerns)(const TaskSubject&) = nullptr;
  /// "" or why it cannot run on these data; null: it always can.
  std::string (*lacks)(const TaskSubject&, Splits) = nullptr;
};

bool is_stream(const TaskSubject& subject) { return subject.is_stream(); }
bool is_causal_stream(const TaskSubject& subject) { return subject.is_stream() && subject.info.causal; }
bool is_no_stream(const TaskSubject& subject) { return !subject.is_stream(); }
bool has_slices(const TaskSubject& subject) { return !subject.info.slices.empty(); }
bool has_seed(const TaskSubject& subject) { return subject.seed != SeedPromise::kNone; }
bool has_files(const TaskSubject& subject) { return !subject.files.empty(); }
bool has_no_unit(const TaskSubject& subject) {
  return subject.info.unit.empty();
}  // the next byte is told by its frequency in part

std::string unseeded(const TaskSubject& subject, Splits) {
  return subject.other == nullptr ? "it is loaded once more for it, and this is a quick look" : "";
}
std::string untraced(const TaskSubject& subject, Splits) { return subject.untraced; }

/// What has to hold before anything else can be looked at.
const Row kFirst[] = {{"info", kTask, kKept, task_info}, {"size", kEach, kKept, task_size}};

const Row kSecond[] = {{"fields, presence and targets", kEach, kKept, task_fields}};

const Row kRows[] = {
    {"info is the same after load", kTask, kKept, task_info_after_load},
    {"files", kTask, kKept, task_files},
    {"files are named", kTask, kKept, task_files_opened, nullptr, untraced},
    {"read by several threads", kTask, kKept, task_threads},
    {"more than one answer", kEach, kKept, task_answers},
    {"slices", kEach, kKept, task_slices, has_slices},
    {"repeatable, with 1 and 2 threads", kEach, kKept, task_repeatable},
    {"alone as in a batch", kEach, kKept, task_alone},
    {"index outside", kEach, kKept, task_outside},
    {"contiguous", kEach, kKept, task_contiguous, is_stream},
    {"past the end", kEach, kKept, task_past_the_end, is_stream},
    {"starts", kEach, kKept, task_starts, is_stream},
    {"next token", kEach, kKept, task_next_token, is_causal_stream},
    {"describe", kEach, kKept, task_describe},
    {"digest is stable", kTask, kKept, task_digest},
    {"another seed, another digest", kTask, kKept, task_digest_of_seed, has_seed, unseeded},
    {"other files, another digest", kTask, kKept, task_digest_of_files, has_files, too_large_to_edit},
    {"other parameters, another digest", kTask, kKept, task_digest_of_parameters, nullptr, too_large_to_edit},
    {"another seed", kEach, kKept, task_other_seed, has_seed, unseeded},
    {"cache", kTask, kKept, task_cache, nullptr, too_large_to_edit},
    {"splits are disjoint", kAnyTwo, kKept, task_disjoint},
    {"no duplicates", kEach, kKept, task_duplicates, is_no_stream},
    {"no near-duplicates", kAnyTwo, kKept, task_near_duplicates, is_no_stream},
    {"label at a position", kJudged, kKept, task_label_at_a_position, nullptr, too_few_for_positions},
    {"label by length", kJudged, kKept, task_label_by_length, nullptr, too_few_for_lengths},
    {"one rule", kNeighbours, kKept, task_rule, nullptr, too_long},
    {"chance", kJudged, kChance, task_chance, has_no_unit},
};

class Suite {
 public:
  Suite(TaskSubject& subject, Exemptions& exemptions, Checks& checks)
      : subject_(subject), exemptions_(exemptions), checks_(checks) {}

  /// @return whether all passed
  bool run(std::span<const Row> rows) {
    const auto before = checks_.all().size();
    for (const auto& row : rows)
      for (const auto& on : row.on)
        if (row.concerns == nullptr || row.concerns(subject_)) run(row, on);
    return std::none_of(checks_.all().begin() + static_cast<std::ptrdiff_t>(before), checks_.all().end(),
                        [](const Check& check) { return check.failed(); });
  }

 private:
  void run(const Row& row, const std::vector<NamedSplit>& on) {
    std::vector<std::string> each_name, each_text;
    for (const auto& named : on) {
      each_name.emplace_back(named.name);
      const auto& sample = subject_.sample(named.split);
      each_text.push_back(sample.examples.empty() ? named.name : sample.text(named.name));
    }
    const auto names = fmt::format("{}", fmt::join(each_name, ", ")), text = fmt::format("{}", fmt::join(each_text, ", "));
    if (const auto why = row.lacks == nullptr ? "" : row.lacks(subject_, on); !why.empty())
      return checks_.leave(row.name, text, why);
    exemptions_.run(checks_, row.name, text, names, row.allowed, [&](Finding& finding) {
      row.look(subject_, on, finding);
      if (finding.left().empty()) finding.saw();  // most show what is wrong, and that alone
    });
  }

  TaskSubject& subject_;
  Exemptions& exemptions_;
  Checks& checks_;
};

/// What all checks need is done where it is no check that is wanted, too. @return whether it was
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

std::vector<std::string> task_check_names() {
  std::vector<std::string> names = {"load", "read"};
  for (const auto rows : {std::span<const Row>(kFirst), std::span<const Row>(kSecond), std::span<const Row>(kRows)})
    for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

namespace {

/// Each part where the one before it holds.
void check_parts(TaskSubject& subject, Checks& checks) {
  auto& exemptions = *subject.candidate.exemptions;
  if (!prepare(checks, "load", "twice, with 2 threads and with 1", [&] { subject.load(); })) return;
  Suite suite(subject, exemptions, checks);
  if (!suite.run(kFirst) || !prepare(checks, "read", "examples of each split", [&] { subject.draw(); })) return;
  if (!suite.run(kSecond)) return;
  suite.run(kRows);
  exemptions.conclude(task_check_names(), checks);
}

}  // namespace

void check_task(const Candidate& candidate, const std::filesystem::path& scratch, bool quick, Checks& checks) {
  TaskSubject subject(candidate, scratch, quick);
  check_parts(subject, checks);
  if (has_failed_often(checks)) checks.conclude(likely_cause(subject));
}

}  // namespace ablate
