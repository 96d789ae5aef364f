// Repeated reads must return the same examples: in any batch, from any instance, in any thread, and during other reads.
#include <fmt/format.h>

#include <algorithm>
#include <barrier>
#include <mutex>
#include <random>
#include <thread>

#include "core/trial/conformance/task/checks.h"

namespace ablate {
namespace {

constexpr std::size_t kThreads = 8, kRounds = 4;
constexpr std::size_t kMostBatch = 7;         // small, so that calls overlap at different stages
constexpr std::int64_t kMostRead = 1 << 22;   // positions of all threads together: takes a second
constexpr std::int64_t kMostBatches = 2'000;  // for each thread in a round

/// Describes the first difference of two examples: "digit at 3: 4, expected 7". Returns "" if they are equal.
std::string difference(const Example& found, const Example& expected, const TaskInfo& info) {
  const auto first = [](const auto& a, const auto& b, const std::string& what) -> std::string {
    for (std::size_t at = 0; at < std::min(a.size(), b.size()); ++at)
      if (!(a[at] == b[at])) return fmt::format("{} at {}: {}, expected {}", what, at, a[at], b[at]);
    return a.size() == b.size() ? "" : fmt::format("{}: {} of them, expected {}", what, a.size(), b.size());
  };
  if (found == expected) return "";
  for (std::size_t i = 0; i < expected.ids.size(); ++i) {
    const auto& name = info.fields[i % info.fields.size()].name;
    for (const auto& text : {first(found.ids[i], expected.ids[i], name), first(found.reals[i], expected.reals[i], name)})
      if (!text.empty()) return text;
  }
  for (std::size_t i = 0; i < expected.present.size(); ++i)
    if (const auto text = first(found.present[i], expected.present[i], "present"); !text.empty()) return text;
  if (const auto text = first(found.targets, expected.targets, "target"); !text.empty()) return text;
  if (const auto text = first(found.slices, expected.slices, "slice"); !text.empty()) return text;
  return fmt::format("starts: {}, expected {}", found.starts, expected.starts);
}

void compare(const std::vector<Example>& found, const Sample& sample, std::size_t begin, const TaskInfo& info,
             Finding& finding) {
  for (std::size_t i = 0; i < found.size(); ++i)
    if (const auto fault = difference(found[i], sample.examples[begin + i], info); !fault.empty())
      return finding.off_by(kFault, fmt::format("example {}: {}", sample.indices[begin + i], fault));
}

/// Reads random small batches of all splits, drawn by the thread's seed. Returns the first difference, or "".
std::string read_here_and_there(const TaskSubject& subject, std::size_t seed, std::int64_t batches) {
  std::mt19937_64 random(seed);
  for (std::int64_t batch = 0; batch < batches; ++batch) {
    const auto& [split, name] = kSplits[random() % 3];
    const auto& sample = subject.sample(split);
    const auto size = std::min<std::size_t>(1 + random() % kMostBatch, sample.examples.size());
    const auto begin = random() % (sample.examples.size() - size + 1);
    const auto found = read_examples(*subject.again, subject.info, split, {&sample.indices[begin], size});
    for (std::size_t i = 0; i < size; ++i)
      if (const auto fault = difference(found[i], sample.examples[begin + i], subject.info); !fault.empty())
        return fmt::format("{}, example {}: {}", name, sample.indices[begin + i], fault);
  }
  return "";
}

}  // namespace

/// Runs before any other read of the second task, so that several threads do the first reads. If data are filled lazily,
/// all threads then fill them at once.
void task_threads(const TaskSubject& subject, Splits, Finding& finding) {
  for (const auto& [split, name] : kSplits)
    if (subject.again->size(split) != subject.sample(split).size) return;  // the check "repeatable" reports the difference
  constexpr std::int64_t calls = static_cast<std::int64_t>(kThreads * kRounds * kMostBatch) / 2;
  const auto positions = subject.info.length * subject.info.sequences;
  const auto batches = std::clamp<std::int64_t>(kMostRead / (subject.quick ? 8 : 1) / (calls * positions), 4, kMostBatches);
  std::mutex mutex;
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::barrier together(static_cast<std::ptrdiff_t>(kThreads));
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        together.arrive_and_wait();
        std::string fault;
        try {
          fault = read_here_and_there(subject, round * kThreads + thread, batches);
        } catch (const std::exception& error) {
          fault = error.what();
        }
        if (fault.empty()) return;
        const std::lock_guard lock(mutex);
        finding.off_by(kFault, fault);
      });
  }
}

void task_repeatable(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  const auto& sample = subject.sample(split);
  if (const auto size = subject.again->size(split); size != sample.size)
    return finding.off_by(kFault, fmt::format("{} examples, but {} in another instance", sample.size, size));
  compare(read_examples(*subject.again, subject.info, split, sample.indices), sample, 0, subject.info, finding);
  if (!finding.passed() || !subject.is_small(split) || std::ssize(sample.examples) == sample.size) return;
  const auto again = contents_of(*subject.again, subject.info, split);
  const auto& before = subject.contents(split);
  if (const auto first = std::ranges::mismatch(before, again); first.in1 != before.end())
    finding.off_by(kFault, fmt::format("example {} differs in another instance",
                                       (first.in1 - before.begin()) * (subject.is_stream() ? subject.info.length : 1)));
}

/// Reads one example at a time, backwards: an example must not depend on its batch.
void task_alone(const TaskSubject& subject, Splits on, Finding& finding) {
  const auto split = on.front().split;
  constexpr std::size_t most = 50;
  const auto& sample = subject.sample(split);
  for (auto i = std::min(sample.examples.size(), most); i-- > 0;)
    compare(read_examples(*subject.task, subject.info, split, {&sample.indices[i], 1}), sample, i, subject.info, finding);
}

}  // namespace ablate
