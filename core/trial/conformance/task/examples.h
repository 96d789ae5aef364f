// Examples of a task: read in batches, as the host reads them, and stored one by one.
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
  std::vector<std::vector<std::int64_t>> ids;      ///< by sequence, then field: [length], or empty
  std::vector<std::vector<float>> reals;           ///< the same for reals: [length, Field::reals], or empty
  std::vector<std::vector<std::uint8_t>> present;  ///< by sequence: [length]
  std::uint8_t starts = 0;
  std::vector<std::int64_t> targets;  ///< one target, or [length]
  std::vector<std::int64_t> slices;
  bool operator==(const Example&) const = default;
};

/// Reads examples by index, in one batch.
/// @param length positions in each row of a stream; 0: the length that the task sets
std::vector<Example> read_examples(const Task& task, const TaskInfo& info, Split split, std::span<const std::int64_t> indices,
                                   std::int64_t length = 0);

/// Returns up to `most` indices spread over a split, sorted, with the first and the last index. Returns all indices of a small
/// split. Indices of a stream are multiples of its row length.
std::vector<std::int64_t> drawn_indices(const TaskInfo& info, std::int64_t size, std::int64_t most);

/// Joins a stream's row with the row that follows it.
void append(Example& to, const Example& behind);
/// Returns some positions of a stream's row, without its start and slices.
Example part_of(const Example& whole, std::size_t begin, std::size_t count);

/// Returns a hash of the present content of an example, without its targets. Padding and its content make no difference.
std::size_t hash_of(const Example& example);

/// Hashes of an example, without its targets and with them.
struct Content {
  std::size_t shown = 0, with_targets = 0;
  bool operator==(const Content&) const = default;
};
Content content_of(const Example& example);
/// Returns the hashes of the first `most` examples of a split.
std::vector<Content> contents_of(const Task& task, const TaskInfo& info, Split split, std::int64_t most = 100'000);

/// Calls `take` for the first `most` examples of a split, read in batches. The examples of a stream are its rows, in order.
void each_of(const Task& task, const TaskInfo& info, Split split, std::int64_t most,
             const std::function<void(std::int64_t index, const Example& example)>& take);

/// Returns all properties that a task reports, as one text to compare.
std::string text_of(const TaskInfo& info);

}  // namespace ablate
