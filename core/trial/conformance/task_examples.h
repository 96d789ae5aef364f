// Examples of a task as the suite looks at them: read as the host reads them, and kept one by one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ablate/task.h"

namespace ablate {

struct NamedSplit {
  Split split;
  const char* name;
};
inline constexpr NamedSplit kSplits[] = {{Split::kTrain, "train"}, {Split::kDev, "dev"}, {Split::kTest, "test"}};

struct Example {
  std::vector<std::vector<std::int64_t>> ids;      ///< by sequence, then field: [length], or nothing
  std::vector<std::vector<float>> reals;           ///< alike: [length, Field::reals], or nothing
  std::vector<std::vector<std::uint8_t>> present;  ///< by sequence: [length]
  std::uint8_t starts = 0;
  std::vector<std::int64_t> targets;  ///< one, or [length]
  std::vector<std::int64_t> slices;
  bool operator==(const Example&) const = default;
};

/// By index, in one batch. @param length of a stream's rows; 0: the task's
std::vector<Example> read_examples(const Task& task, const TaskInfo& info, Split split, std::span<const std::int64_t> indices,
                                   std::int64_t length = 0);

/// The indices that are looked at, at most `most`: the first ones; of a stream, of rows that follow each other.
std::vector<std::int64_t> indices_of(const TaskInfo& info, std::int64_t size, std::int64_t most);

/// A stream's row behind the one before it, as one row.
Example joined(const Example& first, const Example& second);

/// "" or what is wrong with an example. @param longest positions that may be present
std::string fault_of(const Example& example, const TaskInfo& info, std::int64_t longest);

/// "" or what is wrong with what a task says of itself.
std::string fault_of(const TaskInfo& info);

/// All that it says, to be compared.
std::string text_of(const TaskInfo& info);

/// A hash of what stands in an example, without its targets.
std::size_t hash_of(const Example& example);

}  // namespace ablate
