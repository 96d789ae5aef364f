// The files that a task names: they are there, and they are what it reads.
#include <fmt/format.h>

#include <algorithm>

#include "core/trial/conformance/task_checks.h"

namespace ablate {
namespace {}  // namespace

void task_files(const TaskSubject& subject, Splits, Finding& finding) {
  for (const auto& file : subject.files)
    if (!std::filesystem::exists(file)) return finding.off_by(kFault, fmt::format("{} does not exist", file.string()));
  if (subject.task->files() != subject.files) return finding.off_by(kFault, "after load they are others");
  if (subject.again->files() != subject.files) finding.off_by(kFault, "a second task of the same parameters has others");
}

void task_files_opened(const TaskSubject& subject, Splits, Finding& finding) {
  std::set<std::filesystem::path> named;
  for (const auto& file : subject.files) named.insert(std::filesystem::weakly_canonical(file));
  for (const auto& file : subject.opened)
    if (named.count(file) == 0)
      finding.off_by(kFault, fmt::format("load() reads {}, which files() does not name", file.string()));
  finding.say(fmt::format("{} read, {} named", subject.opened.size(), named.size()));
}

}  // namespace ablate
