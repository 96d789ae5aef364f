#include "core/trial/floors/data.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/trial/training/order.h"
#include "core/util/error.h"

namespace ablate {
namespace {

constexpr std::int64_t kPlacesAtOnce = 1 << 16;
/// Seed whose training order is used. Other seeds draw the same number of other examples. All seeds read a stream alike.
constexpr std::uint64_t kSeed = 1;

}  // namespace

std::int64_t numbers_of(const TaskInfo& info) {
  std::int64_t each = 0;
  for (const auto& field : info.fields) each += std::max<std::int64_t>(1, field.reals);
  return info.length * info.sequences * each;
}

FloorData::FloorData(const Task& task, const TaskInfo& info, const ExampleRows& rows)
    : LearnedData(info, info.unit.empty()), task_(task), rows_(rows), seen_(task.size(Split::kTrain)) {
  if (rows.train == 0) return;
  if (info.sampling == Sampling::kStream) {
    seen_ = 0;
    for (const auto& [begin, end] : lanes(0)) seen_ += end - begin;
  } else if (rows.train < seen_) {
    seen_ = rows.train;
    drawn_ = training_order(info, task.size(Split::kTrain), seen_, kSeed)->next().indices;
  }
}

std::int64_t FloorData::train(std::int64_t most, const Take& take) const {
  if (info().sampling == Sampling::kStream) {
    std::int64_t positions = 0;
    for (const auto& range : lanes(most)) stream(Split::kTrain, range, take), positions += range.second - range.first;
    return positions;
  }
  const auto count = most_examples(seen_, most);
  if (drawn_.empty()) {
    examples(Split::kTrain, sample_of(seen_, count), take);
  } else {
    std::vector<std::int64_t> asked(drawn_.begin(), drawn_.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(asked.begin(), asked.end());
    examples(Split::kTrain, asked, take);
  }
  return count;
}

std::int64_t FloorData::dev(std::int64_t most, const Take& take) const {
  const auto size = task_.size(Split::kDev);
  const bool is_stream = info().sampling == Sampling::kStream;
  const auto count = is_stream ? std::min(size, most) : most_examples(size, most);
  if (is_stream)
    stream(Split::kDev, {0, count}, take);
  else
    examples(Split::kDev, sample_of(size, count), take);
  return count;
}

std::int64_t FloorData::test(const Take& take) const {
  auto size = task_.size(Split::kTest);
  const bool is_stream = info().sampling == Sampling::kStream;
  const auto each = is_stream ? info().length : 1, all = size;
  if (rows_.test > 0 && rows_.test <= size / each) size = rows_.test * each;
  if (is_stream)
    stream(Split::kTest, {0, size}, take);
  else
    examples(Split::kTest, sample_of(all, size), take);
  return size;
}

/// Returns the first round of Lanes (core/trial/training/order.h): the beginning of each lane. Later rounds repeat the lanes.
std::vector<FloorData::Range> FloorData::lanes(std::int64_t most_places) const {
  const auto size = task_.size(Split::kTrain);
  const auto lanes = std::max<std::int64_t>(1, rows_.lanes), part = size / lanes;
  const bool is_whole = rows_.train == 0 || rows_.train >= (size + info().length - 1) / info().length;
  if (is_whole) return {{0, most_places > 0 ? std::min(size, most_places) : size}};
  auto each = std::min(part, rows_.train / lanes * info().length);
  if (most_places > 0) each = std::min(each, std::max<std::int64_t>(1, most_places / lanes));
  std::vector<Range> ranges;
  for (std::int64_t lane = 0; lane < lanes; ++lane) ranges.emplace_back(lane * part, lane * part + each);
  return ranges;
}

std::int64_t FloorData::most_examples(std::int64_t size, std::int64_t most_numbers) const {
  return std::min(size, std::max<std::int64_t>(1, most_numbers / numbers_of(info())));
}

void FloorData::examples(Split split, const std::vector<std::int64_t>& asked, const Take& take) const {
  const auto count = std::ssize(asked);
  const auto batch = std::clamp<std::int64_t>(kPlacesAtOnce / numbers_of(info()), 1, 256);
  for (std::int64_t first = 0; first < count; first += batch)
    give(read_examples(task_, info(), split,
                       std::span(asked).subspan(static_cast<std::size_t>(first),
                                                static_cast<std::size_t>(std::min(batch, count - first)))),
         take);
}

void FloorData::stream(Split split, const Range& range, const Take& take) const {
  const auto before = std::min(kBefore, info().length - 1);
  const auto batch = std::clamp<std::int64_t>(kPlacesAtOnce / info().length, 1, 1024);
  for (auto next = range.first; next < range.second;) {
    std::vector<std::int64_t> indices, first, end;
    while (next < range.second && std::ssize(indices) < batch) {
      const auto begin = std::max(range.first, next - before);
      indices.push_back(begin);
      first.push_back(next - begin);
      next = std::min(begin + info().length, range.second);
      end.push_back(next - begin);
    }
    auto rows = read_examples(task_, info(), split, indices);
    for (std::size_t i = 0; i < rows.size(); ++i)
      for (std::size_t at = 0; at < rows[i].targets.size(); ++at)
        if (const auto position = static_cast<std::int64_t>(at); position < first[i] || position >= end[i])
          rows[i].targets[at] = -1;
    give(rows, take);
  }
}

void FloorData::give(const std::vector<Example>& examples, const Take& take) const {
  for (const auto& example : examples) {
    each_target_of(example, [&](std::size_t, std::int64_t target) {
      if (target >= info().classes)
        throw Error(fmt::format("the task handed out the label {}, and the task has {} classes", target, info().classes));
    });
    take(example);
  }
}

}  // namespace ablate
