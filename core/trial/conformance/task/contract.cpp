// Properties that a task reports, and rules for each of its examples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>

#include "core/shared/objectives.h"
#include "core/shared/task_info.h"
#include "core/trial/conformance/task/checks.h"

namespace ablate {
namespace {

constexpr std::int64_t kFewExamples = 20;

void wrong(Finding& finding, const std::string& fault) {
  if (!fault.empty()) finding.off_by(kFault, fault);
}

std::string presence_fault(const std::vector<std::uint8_t>& present, const TaskInfo& info, std::int64_t longest) {
  const auto end = std::find_if(present.rbegin(), present.rend(), [](auto one) { return one != 0; }).base() - present.begin();
  if (end == 0) return info.sampling == Sampling::kStream ? "" : "nothing is present";
  if (end > longest) return fmt::format("present at {}, expected at most {} positions", end - 1, longest);
  const auto gap = std::find(present.begin(), present.begin() + end, 0) - present.begin();
  return gap < end && !info.holes ? fmt::format("padding at {} has a token after it, but no holes are declared", gap) : "";
}

std::string fault_of(const Example& example, const TaskInfo& info, std::int64_t longest) {
  for (const auto& present : example.present)
    if (auto fault = presence_fault(present, info, longest); !fault.empty()) return fault;
  for (std::size_t i = 0; i < example.ids.size(); ++i) {
    const auto& field = info.fields[i % info.fields.size()];
    for (std::size_t at = 0; at < example.ids[i].size(); ++at)
      if (const auto id = example.ids[i][at]; id < 0 || id >= field.vocabulary)
        return fmt::format("{}: id {} at {}, expected below {}", field.name, id, at, field.vocabulary);
    for (const auto number : example.reals[i])
      if (!std::isfinite(number)) return fmt::format("{}: {} is no finite number", field.name, number);
  }
  for (std::size_t at = 0; at < example.targets.size(); ++at) {
    const auto target = example.targets[at];
    if (target < -1 || target >= info.classes)
      return fmt::format("target {} at {}, expected [0, {}), or -1 for no target", target, at, info.classes);
    if (target >= 0 && asks_of(info.objective).each && example.present.front()[at] == 0)
      return fmt::format("a target at {}, but nothing is present there", at);
  }
  return "";
}

/// Returns the fault if a read outside the split throws nothing, or something other than std::out_of_range.
std::string outside_fault(const TaskSubject& subject, Split split, std::int64_t index) {
  std::string found = "an example";
  try {
    const std::int64_t indices[] = {0, index};  // after a valid index
    read_examples(*subject.task, subject.info, split, indices);
  } catch (const std::out_of_range&) {
    return "";
  } catch (const std::exception& error) {
    found = error.what();
  }
  return fmt::format("index {}: expected std::out_of_range, found {}", index, found);
}

}  // namespace

std::string text_of(const TaskInfo& info) {
  std::string fields;
  for (const auto& field : info.fields) fields += fmt::format("{} {} {}, ", field.name, field.vocabulary, field.reals);
  for (const auto& metric : info.metrics) fields += metric.name + " " + metric.unit + " " + metric.direction + ", ";
  return fmt::format("{}{} sequences, length {} ({} in training), {} classes, {} {} {} {}, {} x {} x {}, \"{}\", {}", fields,
                     info.sequences, info.length, info.train_length, info.classes, static_cast<int>(info.objective),
                     static_cast<int>(info.sampling), info.causal, info.holes, info.geometry.rows, info.geometry.columns,
                     info.geometry.channels, info.unit, info.slices);
}

void task_info(const SampledTask& subject, Splits, Finding& finding) { wrong(finding, fault_of(subject.info)); }

void task_info_after_load(const TaskSubject& subject, Splits, Finding& finding) {
  const auto before = text_of(subject.info), after = text_of(subject.task->info());
  if (before != after) wrong(finding, fmt::format("{}, and before {}", after, before));
}

void task_size(const SampledTask& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto size = subject.task->size(split);
  if (size < 1) wrong(finding, fmt::format("{} examples, expected at least 1", size));
}

void task_fields(const SampledTask& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto& sample = subject.sample(split);
  std::string found;
  const auto look = [&](std::int64_t index, const Example& example) {
    if (!found.empty()) return;
    if (const auto fault = fault_of(example, subject.info, subject.longest(split)); !fault.empty())
      found = fmt::format("example {}: {}", index, fault);
  };
  if (subject.is_small(split))
    subject.read_to_the_end(split, look);
  else
    for (std::size_t i = 0; i < sample.examples.size(); ++i) look(sample.indices[i], sample.examples[i]);
  wrong(finding, found);
}

void task_answers(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto& examples = subject.sample(split).examples;
  std::map<std::int64_t, std::int64_t> asked;
  std::int64_t without = 0, alike = 0;
  const auto asks_nothing = [](const Example& example) {
    return std::ranges::all_of(example.targets, [](auto target) { return target < 0; });
  };
  // True if ids and reals are all 0, as in an example beyond an array's end or an example that was never filled.
  const auto is_blank = [](const Example& example) {
    const auto blank = [](const auto& values) { return std::ranges::all_of(values, [](auto value) { return value == 0; }); };
    return std::ranges::all_of(example.ids, blank) && std::ranges::all_of(example.reals, blank);
  };
  for (const auto& example : examples) {
    for (const auto target : example.targets)
      if (target >= 0) ++asked[target];
    without += asks_nothing(example) ? 1 : 0;
    alike += is_blank(example) ? 1 : 0;
  }
  if (asked.empty()) return wrong(finding, "no target is asked for");
  if (without > 0) finding.say(fmt::format("{} of {} examples have no target", without, examples.size()));
  if (asked.size() == 1 && static_cast<std::int64_t>(examples.size()) >= kFewExamples)
    wrong(finding, fmt::format("every target is {}: there is nothing to learn", asked.begin()->first));
  if (subject.is_stream() || static_cast<std::int64_t>(examples.size()) < kFewExamples) return;
  const auto& last = examples.back();
  if ((without == 1 && asks_nothing(last)) || (alike == 1 && is_blank(last)))
    wrong(finding, fmt::format("the last example {}, unlike all others: size() is one too large",
                               without == 1 && asks_nothing(last) ? "has no target" : "has only zeros"));
}

void task_slices(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto& examples = subject.sample(split).examples;
  for (std::size_t i = 0; i < subject.info.slices.size(); ++i)
    if (std::none_of(examples.begin(), examples.end(), [&](const auto& example) { return example.slices[i] != 0; }))
      wrong(finding, fmt::format("the slice {} has no value but 0", subject.info.slices[i]));
}

void task_outside(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  for (const auto index : {std::int64_t{-1}, subject.sample(split).size}) wrong(finding, outside_fault(subject, split, index));
}

void task_describe(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  if (subject.task->describe(split, subject.sample(split).size - 1).empty()) wrong(finding, "nothing");
}

void task_files(const TaskSubject& subject, Splits, Finding& finding) {
  for (const auto& file : subject.files)
    if (!std::filesystem::exists(file)) return finding.off_by(kFault, fmt::format("{} does not exist", file.string()));
  if (subject.task->files() != subject.files) return finding.off_by(kFault, "files() differs after load()");
  if (subject.again->files() != subject.files) finding.off_by(kFault, "a second task with the same parameters has other files");
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
