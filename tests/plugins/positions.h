// Examples of a task with targets at positions, as the host reads them.
#pragma once

#include "tests/plugins/task.h"

namespace ablate::tests {

/// Present positions of an example, which precede all absent positions.
struct Asked {
  std::vector<std::int64_t> ids, targets;
  std::int64_t slice;  ///< value of the task's only slice
  bool operator==(const Asked&) const = default;
};

inline Asked read_asked(const Task& task, const TaskInfo& info, Split split, std::int64_t index) {
  const auto length = static_cast<std::size_t>(info.length);
  std::vector<std::int64_t> ids(length, 0), targets(length, -1), slices(1, 0);
  std::vector<std::uint8_t> present(length, 1);
  task.read(split, std::span(&index, 1),
            {.length = info.length,
             .ids = {ids},
             .reals = std::vector<std::span<float>>(1),
             .present = {present},
             .targets = targets,
             .slices = slices});
  const auto end = std::ranges::find(present, 0) - present.begin();
  REQUIRE(std::count(present.begin() + end, present.end(), 1) == 0);
  REQUIRE(std::all_of(targets.begin() + end, targets.end(), [](auto target) { return target == -1; }));
  return {{ids.begin(), ids.begin() + end}, {targets.begin(), targets.begin() + end}, slices.front()};
}

}  // namespace ablate::tests
