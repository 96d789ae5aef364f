// Other values of a task's parameters: changed examples must change the digest, and loads must not mix cached data.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/trial/conformance/task/checks.h"
#include "core/trial/conformance/task/contents.h"
#include "core/trial/conformance/task/edited_files.h"

namespace ablate {
namespace {

constexpr std::int64_t kFewShown = 100;                     // examples per split, if a parameter sets their number
constexpr std::uintmax_t kMostLoaded = 128 << 20;           // bytes of files, including repeated loads
constexpr std::int64_t kMostShown = std::int64_t{1} << 24;  // numbers in the examples of one value

/// Counts the numbers in a task's examples.
std::int64_t numbers_shown(const Loaded& made) {
  if (made.info.sampling == Sampling::kStream) return 0;  // one text, whatever the length of its rows
  std::int64_t examples = 0, each = 0;
  for (const auto& [split, name] : kSplits) examples += std::min<std::int64_t>(made.task->size(split), 100'000);
  for (const auto& field : made.info.fields) each += std::max<std::int64_t>(field.reals, 1);
  return examples * each * made.info.length * made.info.sequences;
}

/// True if the data that a parameter's value makes are too large to check.
bool is_too_large(const Loaded& made, std::int64_t usual) { return numbers_shown(made) > std::max(2 * usual, kMostShown); }

/// Loads the task with one value after the other, in a folder with data of other values and in an empty folder.
class SharedFolder {
 public:
  SharedFolder(const TaskSubject& subject, Finding& finding)
      : subject_(subject), finding_(finding), own_(subject.folder("cache")) {}

  /// Checks the task with `changes`, named by `said` ("data_seed = 1"). Returns false if the task refuses or is too large.
  bool look(const nlohmann::json& changes, const std::string& said) {
    std::optional<LoadedAlone> alone;
    try {
      alone.emplace(subject_, changes);
    } catch (const std::exception&) {
      return false;
    }
    if (is_too_large(*alone, 0)) return false;
    ++looks_;
    try {
      const Loaded shared(subject_, changes, own_.folder);
      const auto others = shared.contents().others(alone->contents());
      if (!others.empty() || shared.task->digest() != alone->task->digest())
        finding_.off_by(kFault,
                        fmt::format("{} in a folder with data of other parameters: {} not the same as in an empty folder", said,
                                    others.empty() ? "the digest is" : "the examples of " + others + " are"));
    } catch (const std::exception& error) {
      finding_.off_by(kFault, fmt::format("{} in a folder with data of other parameters: {}", said, error.what()));
    }
    return true;
  }
  std::int64_t looks() const { return looks_; }

 private:
  const TaskSubject& subject_;
  Finding& finding_;
  OwnFolder own_;
  std::int64_t looks_ = 0;
};

std::string said_of(const std::string& name, const nlohmann::json& value) { return name + " = " + value.dump(); }

}  // namespace

/// Checks, for every other value of a parameter, that changed examples change the digest. Uses few examples if a parameter sets
/// their number.
void task_digest_of_parameters(const TaskSubject& subject, Splits, Finding& finding) {
  const auto parameters = describe(subject.candidate.descriptor()).parameters;
  const auto small = subject.with_few_examples(kFewShown);
  const LoadedAlone base(subject, small);
  const auto before = base.contents();
  const auto usual = numbers_shown(base);
  // First tries values of each parameter, the nearest first, until one changes examples. Then tries more while loads are left.
  std::int64_t loads = 0, shown = 0;
  const auto most_loads = static_cast<std::int64_t>(kMostLoaded / bytes_of(subject));
  std::vector<std::vector<nlohmann::json>> others;
  for (const auto& parameter : parameters)
    others.push_back(other_values(parameter, small.value(parameter.name, subject.candidate.section.at(parameter.name))));
  std::vector<std::size_t> tried(parameters.size());
  std::vector<std::string> changing;
  const auto changes_some = [&](const ParameterInfo& parameter, const nlohmann::json& other) {
    auto changes = small;
    changes[parameter.name] = other;
    try {
      ++loads;
      const LoadedAlone changed(subject, changes);
      shown += numbers_shown(changed);
      if (changed.info.objective != base.info.objective || is_too_large(changed, usual)) return false;  // not comparable
      // A stream is one text, whatever the length of its rows.
      const auto& info = subject.is_stream() ? base.info : changed.info;
      if (Contents(*changed.task, info).others(before).empty()) return false;
      if (changed.task->digest() == base.task->digest())
        finding.off_by(kFault, fmt::format("with {} instead of {} the examples change, but the digest stays the same",
                                           said_of(parameter.name, other),
                                           small.value(parameter.name, subject.candidate.section.at(parameter.name)).dump()));
      return true;
    } catch (const std::exception&) {  // a value that the task refuses, or that needs another parameter changed
      return false;
    }
  };
  for (std::size_t i = 0; i < parameters.size(); ++i)
    while (tried[i] < others[i].size())
      if (changes_some(parameters[i], others[i][tried[i]++])) {
        if (parameters[i].name != kDataSeed) changing.push_back(parameters[i].name);
        break;
      }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    while (tried[i] < others[i].size() && loads < most_loads && shown < kMostShown)
      changes_some(parameters[i], others[i][tried[i]++]);
  if (changing.empty()) return finding.leave("no other value of a parameter that was tried makes other examples");
  finding.say(fmt::format("other examples by {}", fmt::join(changing, ", ")));
}

/// Checks loads in one cache folder: with the task's own values, other values, edited files, and the task's own values again.
void task_cache(const TaskSubject& subject, Splits, Finding& finding) {
  const auto small = subject.with_few_examples(kFewShown);
  if (!subject.keeps_data) return finding.say("it stores nothing in its cache folder");
  SharedFolder shared(subject, finding);
  shared.look(small, "the first data");
  for (const auto& parameter : describe(subject.candidate.descriptor()).parameters) {
    const auto value = small.value(parameter.name, subject.candidate.section.at(parameter.name));
    auto changes = small;
    for (const auto& other : other_values(parameter, value)) {
      changes[parameter.name] = other;
      if (shared.look(changes, said_of(parameter.name, other))) break;
    }
  }
  if (const auto files = subject.files.empty() ? std::nullopt : EditedFiles::of(subject)) {
    auto changes = small;
    changes.update(files->changes());
    shared.look(changes, "a copy of its files");
    for (const bool end_of_line : {false, true}) {
      files->edit(0, 0.5, end_of_line);
      shared.look(changes, "a file that was edited");
      files->restore(0);
    }
  }
  shared.look(small, "the first data once more");
  finding.say(fmt::format("{} loads in one folder", shared.looks()));
}

}  // namespace ablate
