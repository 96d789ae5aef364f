#include "core/trial/training/batches.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/shared/objectives.h"
#include "core/util/error.h"

namespace ablate {
namespace {

template <class T>
at::Tensor tensor_of(const std::vector<T>& numbers, at::IntArrayRef sizes, at::ScalarType type, c10::Device device) {
  auto tensor = at::empty(sizes, type);
  std::copy(numbers.begin(), numbers.end(), static_cast<T*>(tensor.mutable_data_ptr()));
  return tensor.to(device);
}

at::Tensor cut(const at::Tensor& rows, std::int64_t length) { return rows.narrow(1, 0, length).contiguous(); }

}  // namespace

/// Buffers that a task fills.
struct BatchReader::Filled {
  std::vector<std::vector<std::int64_t>> ids;  ///< by sequence, then field
  std::vector<std::vector<float>> reals;
  std::vector<std::vector<std::uint8_t>> present;
  std::vector<std::uint8_t> starts;
  std::vector<std::int64_t> targets, slices;

  Filled(const TaskInfo& info, std::size_t batch) : starts(batch, 0), slices(batch * info.slices.size(), 0) {
    const auto positions = batch * static_cast<std::size_t>(info.length);
    for (std::int64_t s = 0; s < info.sequences; ++s) {
      for (const auto& field : info.fields) {
        ids.emplace_back(field.vocabulary > 0 ? positions : 0, 0);
        reals.emplace_back(field.vocabulary > 0 ? 0 : positions * static_cast<std::size_t>(field.reals), 0.0f);
      }
      present.emplace_back(positions, 1);
    }
    targets.assign(asks_of(info.objective).each ? positions : batch, -1);
  }

  BatchView view(std::int64_t length) {
    BatchView view{.length = length, .starts = starts, .targets = targets, .slices = slices};
    for (auto& one : ids) view.ids.emplace_back(one);
    for (auto& one : reals) view.reals.emplace_back(one);
    for (auto& one : present) view.present.emplace_back(one);
    return view;
  }
};

void BatchReader::check(const Filled& filled) const {
  for (std::size_t i = 0; i < filled.ids.size(); ++i) {
    const auto& field = info_.fields[i % info_.fields.size()];
    for (const auto id : filled.ids[i])
      if (id < 0 || id >= field.vocabulary)
        throw Error(fmt::format("the task handed out the id {} of the field {}, and its vocabulary is {}", id, field.name,
                                field.vocabulary));
    for (const auto real : filled.reals[i])
      if (!std::isfinite(real)) throw Error(fmt::format("the task handed out {} in the field {}", real, field.name));
  }
  const auto least = asks_of(info_.objective).each ? -1 : 0;
  for (const auto target : filled.targets)
    if (target < least || target >= info_.classes)
      throw Error(fmt::format("the task handed out the label {}, and the task has {} classes", target, info_.classes));
  if (info_.holes) return;
  for (const auto& present : filled.present)
    for (std::size_t i = 1; i < present.size(); ++i)
      if (present[i] != 0 && present[i - 1] == 0 && i % static_cast<std::size_t>(info_.length) != 0)
        throw Error("the task handed out a present position after an absent position, but its info() declares no holes");
}

void BatchReader::check_end(const Filled& filled, std::int64_t length) const {
  for (const auto& present : filled.present)
    for (std::size_t i = 0; i < present.size(); ++i)
      if (static_cast<std::int64_t>(i) % info_.length >= length && present[i] != 0)
        throw Error(
            fmt::format("the task handed out a training example with a position at {}, and its info() says train_length = {}",
                        static_cast<std::int64_t>(i) % info_.length, length));
}

Batch BatchReader::read(Split split, std::span<const std::int64_t> indices, const Reading& reading) const {
  Filled filled(info_, indices.size());
  task_.read(split, indices, filled.view(info_.length));
  check(filled);
  const auto whole = info_.length, length = reading.length > 0 ? reading.length : whole;
  if (length < whole) check_end(filled, length);
  const auto size = static_cast<std::int64_t>(indices.size()), rows = size * info_.sequences;
  Batch batch{.size = size};
  const auto fields = info_.fields.size();
  for (std::size_t f = 0; f < fields; ++f) {
    const auto& field = info_.fields[f];
    std::vector<at::Tensor> sequences;
    for (std::size_t s = 0; s < static_cast<std::size_t>(info_.sequences); ++s)
      sequences.push_back(field.vocabulary > 0
                              ? tensor_of(filled.ids[s * fields + f], {size, whole}, at::kLong, device_)
                              : tensor_of(filled.reals[s * fields + f], {size, whole, field.reals}, at::kFloat, device_));
    batch.fields.push_back(cut(sequences.size() == 1 ? sequences.front() : at::cat(sequences), length));
  }
  std::vector<std::uint8_t> present;
  for (const auto& one : filled.present) present.insert(present.end(), one.begin(), one.end());
  if (std::find(present.begin(), present.end(), 0) != present.end())
    batch.mask = cut(tensor_of(present, {rows, whole}, at::kByte, device_).to(at::kBool), length);
  if (info_.sampling == Sampling::kStream) batch.starts = filled.starts;
  if (!reading.position.empty())
    batch.position = tensor_of(std::vector(reading.position.begin(), reading.position.end()), {size}, at::kLong, device_);
  for (std::size_t i = 0; i < indices.size() && !info_.slices.empty(); ++i) {
    const auto first = filled.slices.begin() + static_cast<std::ptrdiff_t>(i * info_.slices.size());
    batch.slices.emplace_back(first, first + static_cast<std::ptrdiff_t>(info_.slices.size()));
  }
  if (!asks_of(info_.objective).each) {
    batch.targets = tensor_of(filled.targets, {size}, at::kLong, device_);
    return batch;
  }
  std::vector<std::int64_t> asked, targets;
  for (std::size_t i = 0; i < filled.targets.size(); ++i) {
    const auto row = i / static_cast<std::size_t>(whole);
    const auto position = static_cast<std::int64_t>(i) % whole;
    if (filled.targets[i] < 0 || (!reading.first_asked.empty() && position < reading.first_asked[row]) ||
        (!reading.end_asked.empty() && position >= reading.end_asked[row]))
      continue;
    asked.push_back(static_cast<std::int64_t>(row) * length + position);
    targets.push_back(filled.targets[i]);
  }
  const auto count = static_cast<std::int64_t>(asked.size());
  batch.asked = tensor_of(asked, {count}, at::kLong, device_);
  batch.targets = tensor_of(targets, {count}, at::kLong, device_);
  return batch;
}

}  // namespace ablate
