// What every task has to keep to, whatever it is about (ablate/task.h).
#pragma once

#include <algorithm>
#include <functional>
#include <memory>

#include "core/conformance/check.h"
#include "tests/task/support.h"

namespace ablate::tests {

/// Makes the task anew. @param other_seed with another data_seed, where the task has one.
using MakeTask = std::function<std::unique_ptr<Task>(int threads, bool other_seed)>;

namespace detail {

inline const char* name_of(Split split) { return split == Split::kTrain ? "train" : split == Split::kDev ? "dev" : "test"; }

/// "" or what is wrong with an example.
inline std::string fault_of(const Example& example, const TaskInfo& info) {
  if (example.label < 0 || example.label >= info.classes)
    return "label " + std::to_string(example.label) + ", expected [0, " + std::to_string(info.classes) + ")";
  const auto end = std::find(example.ids.begin(), example.ids.end(), 0);
  if (end == example.ids.begin()) return "no token";
  for (auto id = example.ids.begin(); id != example.ids.end(); ++id) {
    const auto position = std::to_string(id - example.ids.begin());
    if (*id < 0 || *id >= info.vocabulary)
      return "id " + std::to_string(*id) + " at " + position + ", expected below " + std::to_string(info.vocabulary);
    if (id > end && *id != 0) return "a token after padding at " + position;
  }
  return "";
}

}  // namespace detail

/// Reads up to `most` examples a split.
inline std::vector<Check> check_task(const MakeTask& make, bool has_seed, std::int64_t most = 2000) {
  std::vector<Check> checks;
  const auto add = [&](const std::string& name, const std::string& on, const std::string& fault) {
    checks.push_back({.name = name, .on = on, .passed = fault.empty(), .found = fault.empty() ? "as promised" : fault});
  };
  const auto same = [](bool equal) { return equal ? "" : "they differ"; };
  const auto task = make(2, false), again = make(1, false);
  const auto info = task->info();
  task->load();
  again->info();
  again->load();
  add("info", "",
      info.vocabulary >= 2 && info.length >= 1 && info.classes >= 2 ? "" : "an empty vocabulary, length or class list");
  const auto after = task->info();
  add("info is the same after load", "",
      same(after.vocabulary == info.vocabulary && after.length == info.length && after.classes == info.classes));
  for (const auto split : {Split::kTrain, Split::kDev, Split::kTest}) {
    const std::string on = detail::name_of(split);
    const auto size = task->size(split);
    add("size", on, size >= 1 ? "" : "no example");
    const auto examples = read_examples(*task, split, std::min(size, most));
    std::string fault;
    for (std::size_t i = 0; i < examples.size() && fault.empty(); ++i)
      if (fault = detail::fault_of(examples[i], info); !fault.empty()) fault = "example " + std::to_string(i) + ": " + fault;
    add("labels, ids and padding", on, fault);
    add("repeatable, with 1 and 2 threads", on,
        same(again->size(split) == size && read_examples(*again, split, std::min(size, most)) == examples));

    // One at a time and backwards: what an index names does not depend on its batch.
    std::vector<std::int64_t> ids(static_cast<std::size_t>(info.length)), label(1);
    bool equal = true;
    for (auto i = static_cast<std::int64_t>(std::min<std::size_t>(examples.size(), 50)) - 1; i >= 0; --i) {
      std::fill(ids.begin(), ids.end(), -1);
      task->read(split, std::span(&i, 1), {ids, label});
      equal = equal && Example{ids, label[0]} == examples[static_cast<std::size_t>(i)];
    }
    add("alone as in a batch", on, same(equal));
    add("describe", on, task->describe(split, size - 1).empty() ? "nothing" : "");
    for (const auto index : {std::int64_t{-1}, size}) {
      bool thrown = false;
      try {
        task->read(split, std::span(&index, 1), {ids, label});
      } catch (const std::exception&) {
        thrown = true;
      }
      add("an index out of range throws", on + " " + std::to_string(index), thrown ? "" : "nothing was thrown");
    }
  }
  add("digest is stable", "", same(!task->digest().empty() && again->digest() == task->digest()));
  if (has_seed) {
    const auto other = make(2, true);
    other->info();
    other->load();
    add("another seed, another digest", "", other->digest() != task->digest() ? "" : "the digest is the same");
  }
  return checks;
}

}  // namespace ablate::tests
