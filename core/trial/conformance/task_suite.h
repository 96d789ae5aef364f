// The checks of a loaded task, and of a second one of the same parameters.
#pragma once

#include <string>
#include <unordered_set>

#include "core/trial/conformance/check.h"
#include "core/trial/conformance/task_examples.h"

namespace ablate {

class TaskSuite {
 public:
  /// @param most examples of a split that are looked at one by one
  TaskSuite(const Task& task, const Task& again, const TaskInfo& info, std::int64_t most, Checks& checks)
      : task_(task), again_(again), info_(info), most_(most), checks_(checks) {}

  void split(const NamedSplit& named);
  /// @param other the task with another data_seed; may be null
  void disjoint(const Task* other);
  /// Whether another task hands out the same examples.
  bool is_same(const Task& other) const;

  /// A check that finds a fault in words; "" is none.
  void check(const std::string& name, const std::string& on, const std::function<std::string()>& fault);

 private:
  std::int64_t longest(Split split) const;
  std::string alone(Split split, const std::vector<std::int64_t>& indices, const std::vector<Example>& examples) const;
  std::string by_threads(Split split, const std::vector<std::int64_t>& indices, const std::vector<Example>& examples) const;
  std::string outside(Split split) const;
  std::string contiguous(Split split) const;
  std::string past_the_end(Split split) const;
  bool is_new(const Task& other, const std::unordered_set<std::size_t>& seen) const;
  std::vector<std::size_t> hashes(const Task& task, Split split, std::int64_t most) const;

  const Task& task_;
  const Task& again_;
  TaskInfo info_;
  std::int64_t most_, size_ = 0;
  Checks& checks_;
};

}  // namespace ablate
