// Reads rows of a task with streams.
#pragma once

#include "tests/plugins/task.h"

namespace ablate::tests {

struct StreamRow {
  std::vector<std::int64_t> ids, targets;
  std::vector<std::uint8_t> present;
  std::uint8_t starts;
};

inline std::vector<StreamRow> read_rows(const Task& task, Split split, const std::vector<std::int64_t>& indices,
                                        std::int64_t length) {
  const auto n = indices.size(), each = static_cast<std::size_t>(length);
  std::vector<std::int64_t> ids(n * each, 0), targets(n * each, -1);
  std::vector<std::uint8_t> present(n * each, 1), starts(n, 0);
  task.read(split, indices,
            {.length = length,
             .ids = {ids},
             .reals = std::vector<std::span<float>>(1),
             .present = {present},
             .starts = starts,
             .targets = targets});
  std::vector<StreamRow> rows;
  for (std::size_t i = 0; i < n; ++i) {
    const auto part = [&](const auto& all) {
      using List = std::decay_t<decltype(all)>;
      return List(all.begin() + static_cast<std::ptrdiff_t>(i * each),
                  all.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
    };
    rows.push_back({part(ids), part(targets), part(present), starts[i]});
  }
  return rows;
}

}  // namespace ablate::tests
