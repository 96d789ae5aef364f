// A table of what is looked at in a task, a line each, and how it is run.
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

/// What each line looks at, one after the other: splits, several at once, or the task.
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
  /// Whether it is of tasks of this kind; null: of all.
  bool (*concerns)(const Subject&) = nullptr;
  /// "" or why it cannot run on these data; null: it always can.
  std::string (*lacks)(const Subject&, Splits) = nullptr;
};

/// Runs a line over what it looks at, each by its name; what an exemption excuses passes.
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
      if (finding.left().empty()) finding.saw();  // most show what is wrong, and that alone
    });
  }
}

}  // namespace ablate
