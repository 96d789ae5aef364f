#include "core/trial/audit/audit.h"

#include <algorithm>

#include "core/shared/objectives.h"
#include "core/trial/audit/looks.h"
#include "core/trial/conformance/plugin/plugin_checks.h"
#include "core/trial/conformance/task/checks.h"
#include "core/trial/conformance/task/rows.h"

namespace ablate {
namespace {

using Row = TaskRow<SampledTask>;

constexpr Allowed kChance{0.25, "share of the way from chance to 1: if one label is that common, accuracy shows little"};

bool has_no_rows(const SampledTask& subject) { return !subject.is_stream(); }
/// True if targets have no unit. Frequencies alone partly predict a target with a unit, for example the next byte.
bool has_no_unit(const SampledTask& subject) { return subject.info.unit.empty(); }

/// Two positions are searched once, for dev and test together.
const Ons kOfBothJudged = {{kSplits[1], kSplits[2]}};
constexpr std::int64_t kMostLabels = 64;  // limit of a table that counts each label for every two symbols
bool has_one_label(const SampledTask& subject) {
  return !asks_of(subject.info.objective).each && subject.info.classes <= kMostLabels;
}

const Row kRows[] = {
    {"no near-duplicates", kOfAnyTwo, kKept, near_duplicates, has_no_rows},
    {"label at a position", kOfJudged, kKept, label_at_a_position, nullptr, too_few_for_positions},
    {"label at two positions", kOfBothJudged, kKept, label_at_two_positions, has_one_label, too_few_for_positions},
    {"label by length", kOfJudged, kKept, label_by_length, nullptr, too_few_for_lengths},
    {"one rule", kOfNeighbours, kKept, one_rule, nullptr, too_long},
    {"chance", kOfJudged, kChance, chance_level, has_no_unit},
};

/// Reads the data of all findings, and fails if examples break the contract: such examples would mislead other findings.
void read_all(SampledTask& subject, Finding& finding) {
  finding.saw();
  task_info(subject, {}, finding);
  for (const auto& on : kSplits) task_size(subject, {&on, 1}, finding);
  if (!finding.passed()) return;
  subject.load_other();
  subject.draw();
  for (const auto& on : kSplits) task_fields(subject, {&on, 1}, finding);
}

}  // namespace

std::vector<std::string> audit_names() { return names_of(std::span<const Row>(kRows)); }

void audit_task(const Candidate& candidate, std::unique_ptr<Task> loaded, const std::filesystem::path& scratch,
                Checks& checks) {
  SampledTask subject(candidate, scratch, false);
  subject.info = loaded->info();
  subject.task = std::move(loaded);
  checks.run("read", "examples of each split", kKept, [&](Finding& finding) { read_all(subject, finding); });
  if (std::ranges::any_of(checks.all(), &Check::failed)) return;
  for (const auto& row : kRows) run_row(row, subject, checks);
  candidate.exemptions->conclude(audit_names(), checks, task_check_names());
}

}  // namespace ablate
