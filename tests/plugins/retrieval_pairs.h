// The retrieval plugin's examples.
#pragma once

#include "tests/plugins/task.h"

namespace ablate::tests {

/// Ids of two documents without padding, and the pair's label.
struct DocumentPair {
  std::vector<std::int64_t> ids[2];
  std::int64_t label;
};

inline DocumentPair read_pair(const Task& task, const TaskInfo& info, Split split, std::int64_t index) {
  const auto n = static_cast<std::size_t>(info.length);
  DocumentPair pair{{std::vector<std::int64_t>(n), std::vector<std::int64_t>(n)}, -1};
  std::vector<std::uint8_t> present[2] = {std::vector<std::uint8_t>(n, 1), std::vector<std::uint8_t>(n, 1)};
  task.read(split, {&index, 1},
            {.length = info.length,
             .ids = {pair.ids[0], pair.ids[1]},
             .reals = {{}, {}},
             .present = {present[0], present[1]},
             .targets = {&pair.label, 1}});
  for (std::size_t i = 0; i < 2; ++i) {
    const auto there = std::ranges::find(present[i], 0) - present[i].begin();
    REQUIRE(std::ranges::count(present[i], 1) == there);
    pair.ids[i].resize(static_cast<std::size_t>(there));
  }
  return pair;
}

}  // namespace ablate::tests
