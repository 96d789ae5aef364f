// A cause that many failed checks of a task may share (likely_cause.h).
#include <chrono>

#include "core/trial/conformance/likely_cause.h"
#include "core/trial/conformance/task_checks.h"

namespace ablate {
namespace {

constexpr std::int64_t kExamples = 24;                    // of a split
constexpr auto kMoment = std::chrono::milliseconds(500);  // a dozen loads follow one that took no longer
constexpr const char* kFrom = "a generator made of data_seed, split and index (ablate/random.h)";

template <class Number>
Tensor tensor_of(const std::vector<Number>& numbers) {
  std::vector<double> wide(numbers.begin(), numbers.end());
  auto all = empty({static_cast<std::int64_t>(wide.size())}, kDouble);
  std::copy(wide.begin(), wide.end(), all.mutable_data_ptr<double>());
  return all;
}

/// Some of each split. @param elsewhere with blocks held, so that a batch's memory is another one
std::vector<Tensor> read_some(const Task& task, const TaskInfo& info, bool elsewhere) {
  std::vector<std::vector<char>> held;
  for (std::size_t size = 16; elsewhere && size <= (1 << 20); size += size / 2) held.emplace_back(size);
  std::vector<Tensor> all;
  for (const auto& [split, name] : kSplits) {
    const auto indices = drawn_indices(info, task.size(split), kExamples);
    for (const auto& example : read_examples(task, info, split, indices)) {
      for (const auto& ids : example.ids) all.push_back(tensor_of(ids));
      for (const auto& reals : example.reals) all.push_back(tensor_of(reals));
      for (const auto& present : example.present) all.push_back(tensor_of(present));
      all.push_back(tensor_of(example.targets));
    }
  }
  return all;
}

}  // namespace

std::string likely_cause(const TaskSubject& subject) try {
  const auto changes = subject.with_few_examples(2000);
  const auto load = [&]() -> std::shared_ptr<Task> {
    std::shared_ptr<Task> made = subject.make(1, subject.folder("likely"), changes);
    made->info();
    made->load();
    return made;
  };
  const auto started = std::chrono::steady_clock::now();
  load();
  const bool is_quick = std::chrono::steady_clock::now() - started < kMoment;
  return likely_cause(
      [&]() -> ProbeCall {
        if (!is_quick) return [&subject](bool elsewhere) { return read_some(*subject.task, subject.info, elsewhere); };
        return [made = load(), &subject](bool elsewhere) { return read_some(*made, subject.info, elsewhere); };
      },
      kFrom);
} catch (const std::exception&) {
  return "";
}

}  // namespace ablate
