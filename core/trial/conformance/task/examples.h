// Examples of a task as the suite looks at them: read as the host reads them, and kept one by one.
#pragma once

#include <cstdint>
#include <functional>
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

/// Of `most` examples drawn all over a split, the first and the last among them, in rising order; of a stream, of rows whose
/// places are multiples of its length. All of them where there are no more.
std::vector<std::int64_t> drawn_indices(const TaskInfo& info, std::int64_t size, std::int64_t most);

/// A stream's row behind the one before it, as one row.
void append(Example& to, const Example& behind);
/// Some places of a stream's row, without its start and slices.
Example part_of(const Example& whole, std::size_t begin, std::size_t count);

/// A hash of what is present in an example, without its targets; more padding makes no difference, nor what stands under it.
std::size_t hash_of(const Example& example);

/// Hashes of an example, without its targets and with them.
struct Content {
  std::size_t shown = 0, asked = 0;
  bool operator==(const Content&) const = default;
};
Content content_of(const Example& example);
/// Of the first `most` examples of a split.
std::vector<Content> contents_of(const Task& task, const TaskInfo& info, Split split, std::int64_t most = 100'000);

/// Hands over the first `most` examples of a split, a batch's at a time; of a stream, rows behind each other.
void each_of(const Task& task, const TaskInfo& info, Split split, std::int64_t most,
             const std::function<void(std::int64_t index, const Example& example)>& take);

/// All that a task says of itself, to be compared.
std::string text_of(const TaskInfo& info);

}  // namespace ablate
