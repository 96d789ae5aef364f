// Table of a task's checks, one row each, and the code that runs a row.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/trial/conformance/engine/exemptions.h"
#include "core/trial/conformance/engine/finding.h"
#include "core/trial/conformance/task/sampled_task.h"

namespace ablate {

inline constexpr Allowed kKept{0, "the contract (ablate/task.h)"};

/// Subjects of a row, one after the other: a split, several splits together, or the whole task.
using Ons = std::vector<std::vector<NamedSplit>>;
inline const Ons kOfTask = {{}}, kOfEach = {{kSplits[0]}, {kSplits[1]}, {kSplits[2]}}, kOfJudged = {{kSplits[1]}, {kSplits[2]}},
                 kOfAnyTwo = {{kSplits[0], kSplits[1]}, {kSplits[0], kSplits[2]}, {kSplits[1], kSplits[2]}},
                 kOfNeighbours = {{kSplits[0], kSplits[1]}, {kSplits[1], kSplits[2]}};

/// @tparam Subject a SampledTask
template <class Subject>
struct TaskRow {
  const char* name;
  const Ons& on;
  const Allowed& allowed;
  std::function<void(const Subject&, Splits, Finding&)> look;
  /// True if the row applies to this task; null: it applies to all tasks.
  bool (*concerns)(const Subject&) = nullptr;
  /// Returns "" or the reason why the row cannot run on these data; null: it always can.
  std::string (*lacks)(const Subject&, Splits) = nullptr;
};

/// Runs a row on each of its subjects. Excused faults pass.
template <class Subject>
void run_row(const TaskRow<Subject>& row, const Subject& subject, Checks& checks) {
  if (row.concerns != nullptr && !row.concerns(subject)) return;
  for (const auto& on : row.on) {
    std::vector<std::string> each_name, each_text;
    for (const auto& [split, name] : on) {
      each_name.emplace_back(name);
      const auto& sample = subject.sample(split);
      each_text.push_back(sample.examples.empty() ? name : sample.text(name));
    }
    const auto names = fmt::format("{}", fmt::join(each_name, ", ")), text = fmt::format("{}", fmt::join(each_text, ", "));
    if (const auto why = row.lacks == nullptr ? "" : row.lacks(subject, on); !why.empty()) {
      checks.leave(row.name, text, why);
      continue;
    }
    subject.candidate.exemptions->run(checks, row.name, text, names, row.allowed, [&](Finding& finding) {
      row.look(subject, on, finding);
      if (finding.left().empty()) finding.saw();  // most rows report only faults
    });
  }
}

}  // namespace ablate
