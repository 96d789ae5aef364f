#include "core/trial/floors/data.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/trial/training/order.h"
#include "core/util/error.h"

namespace ablate {
namespace {

constexpr std::int64_t kPlacesAtOnce = 1 << 16;

/// Numbers of an example, of which a place without reals has one: what its memory and the work on it go by.
std::int64_t numbers_of(const TaskInfo& info) {
  std::int64_t each = 0;
  for (const auto& field : info.fields) each += std::max<std::int64_t>(1, field.reals);
  return info.length * info.sequences * each;
}

}  // namespace

std::int64_t FloorData::read(Split split, std::int64_t most_places, std::int64_t most_rows, const Take& take) const {
  auto size = task_.size(split);
  if (info_.sampling == Sampling::kStream) {
    if (most_places > 0) size = std::min(size, most_places);
    if (most_rows > 0 && most_rows <= size / info_.length) size = most_rows * info_.length;
    stream(split, size, take);
    return size;
  }
  if (most_places > 0) size = std::min(size, std::max<std::int64_t>(1, most_places / numbers_of(info_)));
  if (most_rows > 0) size = std::min(size, most_rows);
  examples(split, size, take);
  return size;
}

void FloorData::examples(Split split, std::int64_t count, const Take& take) const {
  const auto asked = sample_of(task_.size(split), count);
  const auto batch = std::clamp<std::int64_t>(kPlacesAtOnce / numbers_of(info_), 1, 256);
  for (std::int64_t first = 0; first < count; first += batch)
    give(read_examples(task_, info_, split,
                       std::span(asked).subspan(static_cast<std::size_t>(first),
                                                static_cast<std::size_t>(std::min(batch, count - first)))),
         take);
}

void FloorData::stream(Split split, std::int64_t size, const Take& take) const {
  const auto before = std::min(kBefore, info_.length - 1);
  const auto batch = std::clamp<std::int64_t>(kPlacesAtOnce / info_.length, 1, 1024);
  for (std::int64_t next = 0; next < size;) {
    std::vector<std::int64_t> indices, first, end;
    while (next < size && std::ssize(indices) < batch) {
      const auto begin = std::max<std::int64_t>(0, next - before);
      indices.push_back(begin);
      first.push_back(next - begin);
      next = std::min(begin + info_.length, size);
      end.push_back(next - begin);
    }
    auto rows = read_examples(task_, info_, split, indices);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t at = 0; at < rows[i].targets.size(); ++at)
        if (const auto place = static_cast<std::int64_t>(at); place < first[i] || place >= end[i]) rows[i].targets[at] = -1;
    give(rows, take);
  }
}

void FloorData::give(const std::vector<Example>& examples, const Take& take) const {
  for (const auto& example : examples) {
    each_target_of(example, [&](std::size_t, std::int64_t target) {
      if (target >= info_.classes)
        throw Error(fmt::format("the task handed out the label {}, and it has {} classes", target, info_.classes));
    });
    take(example);
  }
}

}  // namespace ablate
