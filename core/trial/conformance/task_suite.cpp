#include "core/trial/conformance/task_suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <thread>

namespace ablate {
namespace {

// Of dev and test that may stand in an earlier split as well, where the data are what they are: real ones repeat themselves a
// little (IMDb 0.5 %; Fashion-MNIST and CIFAR-10 in grey not at all). Generated ones can be drawn again, so there it is none.
constexpr double kMostShared = 0.01;
constexpr std::int64_t kMostHashed = 100'000;
constexpr std::int64_t kFewExamples = 20;
constexpr int kThreads = 4;

std::string differs(const std::vector<Example>& a, const std::vector<Example>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    if (!(a[i] == b[i])) return fmt::format("example {} differs", i);
  return a.size() == b.size() ? "" : "they differ";
}

/// Whether a target is asked for, and whether there is more than one answer.
std::string answers_fault(const std::vector<Example>& examples) {
  std::optional<std::int64_t> first;
  for (const auto& example : examples)
    for (const auto target : example.targets) {
      if (target < 0) continue;
      if (first && *first != target) return "";
      first = target;
    }
  if (!first) return "no target is asked for";
  if (static_cast<std::int64_t>(examples.size()) < kFewExamples) return "";
  return fmt::format("every target is {}: there is nothing to learn", *first);
}

std::string slices_fault(const std::vector<Example>& examples, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (std::none_of(examples.begin(), examples.end(), [&](const auto& example) { return example.slices[i] != 0; }))
      return fmt::format("the slice {} has no value but 0", names[i]);
  return "";
}

}  // namespace

void TaskSuite::check(const std::string& name, const std::string& on, const std::function<std::string()>& fault) {
  checks_.run(name, on, 0, [&](std::string&) -> double {
    if (const auto found = fault(); !found.empty()) throw std::runtime_error(found);
    return 0;
  });
}

std::int64_t TaskSuite::longest(Split split) const {
  return split == Split::kTrain && info_.train_length > 0 ? info_.train_length : info_.length;
}

void TaskSuite::split(const NamedSplit& named) {
  const auto& [split, name] = named;
  const std::string on = name;
  size_ = 0;
  check("size", on, [&] {
    size_ = task_.size(split);
    return size_ >= 1 ? "" : fmt::format("{} examples, expected at least 1", size_);
  });
  if (size_ < 1) return;
  const auto indices = indices_of(info_, size_, most_);
  std::vector<Example> examples;
  const auto shown = fmt::format("{}, {} of {} examples", on, indices.size(), size_);
  check("fields, presence and targets", shown, [&] {
    examples = read_examples(task_, info_, split, indices);
    for (std::size_t i = 0; i < examples.size(); ++i)
      if (const auto fault = fault_of(examples[i], info_, longest(split)); !fault.empty())
        return fmt::format("example {}: {}", indices[i], fault);
    return std::string();
  });
  if (examples.empty()) return;
  check("more than one answer", shown, [&] { return answers_fault(examples); });
  if (!info_.slices.empty()) check("slices", shown, [&] { return slices_fault(examples, info_.slices); });
  check("repeatable, with 1 and 2 threads", shown, [&] {
    if (again_.size(split) != size_) return fmt::format("{} and {} examples", size_, again_.size(split));
    return differs(read_examples(again_, info_, split, indices), examples);
  });
  check("alone as in a batch", on, [&] { return alone(split, indices, examples); });
  check("read by several threads", shown, [&] { return by_threads(split, indices, examples); });
  check("index outside", fmt::format("{}, -1 and {}", on, size_), [&] { return outside(split); });
  if (info_.sampling == Sampling::kStream) {
    check("contiguous", on, [&] { return contiguous(split); });
    check("past the end", on, [&] { return past_the_end(split); });
  }
  check("describe", on, [&] { return task_.describe(split, size_ - 1).empty() ? "nothing" : ""; });
}

/// One at a time and backwards: what an index names does not depend on its batch.
std::string TaskSuite::alone(Split split, const std::vector<std::int64_t>& indices,
                             const std::vector<Example>& examples) const {
  for (auto i = std::min<std::size_t>(examples.size(), 50); i-- > 0;)
    if (!(read_examples(task_, info_, split, {&indices[i], 1}).front() == examples[i]))
      return fmt::format("example {} differs", indices[i]);
  return "";
}

/// All of them from each of several threads at once, each from another place on.
std::string TaskSuite::by_threads(Split split, const std::vector<std::int64_t>& indices,
                                  const std::vector<Example>& examples) const {
  std::vector<std::string> faults(kThreads);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread)
      threads.emplace_back([&, thread] {
        try {
          constexpr std::size_t chunk = 64;
          const auto count = std::min<std::size_t>(examples.size(), 1024),
                     first = count * static_cast<std::size_t>(thread) / kThreads;
          for (std::size_t done = 0; done < count; done += chunk) {
            const auto begin = (first + done) % count, size = std::min(chunk, count - begin);
            const auto found = read_examples(task_, info_, split, {&indices[begin], size});
            for (std::size_t i = 0; i < size; ++i)
              if (!(found[i] == examples[begin + i]))
                faults[static_cast<std::size_t>(thread)] = fmt::format("example {} differs", indices[begin + i]);
          }
        } catch (const std::exception& error) {
          faults[static_cast<std::size_t>(thread)] = error.what();
        }
      });
  }
  for (const auto& fault : faults)
    if (!fault.empty()) return fault;
  return "";
}

/// Just outside, behind an index that is right.
std::string TaskSuite::outside(Split split) const {
  for (const auto index : {std::int64_t{-1}, size_}) {
    std::string found = "an example";
    try {
      const std::int64_t indices[] = {0, index};
      read_examples(task_, info_, split, indices);
    } catch (const std::out_of_range&) {
      continue;
    } catch (const std::exception& error) {
      found = error.what();
    }
    return fmt::format("index {}: expected std::out_of_range, found {}", index, found);
  }
  return "";
}

/// A row is two rows that follow each other; and a split's first row begins a text.
std::string TaskSuite::contiguous(Split split) const {
  const auto read = [&](std::int64_t index, std::int64_t length) {
    return read_examples(task_, info_, split, {&index, 1}, length).front();
  };
  if (read(0, 1).starts != 1) return "no text starts with the first row";
  for (const auto begin : {std::int64_t{0}, size_ / 3, std::max<std::int64_t>(size_ - info_.length, 0)})
    for (const auto part : {std::int64_t{1}, info_.length / 2, info_.length - 1}) {
      if (part < 1 || part >= info_.length || begin + part >= size_) continue;
      if (!(joined(read(begin, part), read(begin + part, info_.length - part)) == read(begin, info_.length)))
        return fmt::format("{} positions from {} on are not {} and {}", info_.length, begin, part, info_.length - part);
    }
  return "";
}

std::string TaskSuite::past_the_end(Split split) const {
  for (const auto left : {std::int64_t{1}, std::min(info_.length / 2, size_)}) {
    if (left < 1) continue;
    const auto index = size_ - left;
    const auto row = read_examples(task_, info_, split, {&index, 1}).front();
    for (std::size_t at = 0; at < row.targets.size(); ++at) {
      const bool inside = static_cast<std::int64_t>(at) < left;
      if ((row.present.front()[at] != 0) != inside || (row.targets[at] >= 0) != inside)
        return fmt::format("{} positions from {} of {} on: at {} expected {}", info_.length, index, size_, at,
                           inside ? "a token and its target" : "nothing");
    }
  }
  return "";
}

void TaskSuite::disjoint(const Task* other) {
  const auto on = fmt::format("the first {} examples of each", kMostHashed);
  checks_.run("splits are disjoint", on, kMostShared, [&](std::string& where) {
    std::unordered_set<std::size_t> seen;
    double worst = 0;
    for (const auto& [split, name] : kSplits) {
      const auto own = hashes(task_, split, kMostHashed);
      const auto shared = std::count_if(own.begin(), own.end(), [&](std::size_t hash) { return seen.count(hash) > 0; });
      seen.insert(own.begin(), own.end());
      if (shared == 0) continue;
      worst = std::max(worst, static_cast<double>(shared) / static_cast<double>(own.size()));
      where +=
          fmt::format("{}{}: {} of {} stand in an earlier split as well", where.empty() ? "" : ", ", name, shared, own.size());
    }
    if (worst > 0 && other != nullptr && is_new(*other, seen))
      throw std::runtime_error(where + "; another data_seed makes other examples, so the data are generated, and none may");
    return worst;
  });
}

bool TaskSuite::is_same(const Task& other) const {
  return std::all_of(std::begin(kSplits), std::end(kSplits), [&](const auto& named) {
    const auto split = named.split;
    const auto looked_at = indices_of(info_, task_.size(split), most_);
    return other.size(split) == task_.size(split) &&
           read_examples(other, info_, split, looked_at) == read_examples(task_, info_, split, looked_at);
  });
}

/// Whether most test examples of another data_seed are in no split of this one: it draws, and does not only deal anew.
bool TaskSuite::is_new(const Task& other, const std::unordered_set<std::size_t>& seen) const {
  const auto drawn = hashes(other, Split::kTest, most_);
  const auto known = std::count_if(drawn.begin(), drawn.end(), [&](std::size_t hash) { return seen.count(hash) > 0; });
  return 2 * known < static_cast<std::int64_t>(drawn.size());
}

/// Of what stands in the first examples.
std::vector<std::size_t> TaskSuite::hashes(const Task& task, Split split, std::int64_t most) const {
  constexpr std::size_t chunk = 256;
  const auto indices = indices_of(info_, task.size(split), most);
  std::vector<std::size_t> all;
  for (std::size_t begin = 0; begin < indices.size(); begin += chunk) {
    const std::span part(indices.data() + begin, std::min(chunk, indices.size() - begin));
    for (const auto& example : read_examples(task, info_, split, part)) all.push_back(hash_of(example));
  }
  return all;
}

}  // namespace ablate
