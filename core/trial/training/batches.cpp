#include "core/trial/training/batches.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <numeric>

#include "core/util/error.h"

namespace ablate {

Batch BatchReader::read(Split split, std::span<const std::int64_t> indices) const {
  const auto count = static_cast<std::int64_t>(indices.size());
  // Filled with what no task may hand out, so that a place which it leaves out is told, and not trained on.
  Batch batch{torch::full({count, info_.length}, -1, torch::kInt64), {}, torch::full({count}, -1, torch::kInt64)};
  const std::span ids(batch.ids.mutable_data_ptr<std::int64_t>(), static_cast<std::size_t>(count * info_.length));
  const std::span labels(batch.labels.mutable_data_ptr<std::int64_t>(), indices.size());
  task_.read(split, indices, {ids, labels});
  bool padded = false;
  for (const auto id : ids) {
    padded = padded || id == 0;
    if (id < 0 || id >= info_.vocabulary)
      throw Error(fmt::format("the task handed out the id {}, and its vocabulary is {}", id, info_.vocabulary));
  }
  for (const auto label : labels)
    if (label < 0 || label >= info_.classes)
      throw Error(fmt::format("the task handed out the label {}, and it has {} classes", label, info_.classes));
  if (padded) batch.mask = batch.ids.ne(0).to(device_);
  batch.ids = batch.ids.to(device_);
  batch.labels = batch.labels.to(device_);
  return batch;
}

void permute(std::vector<std::int64_t>& items, std::mt19937_64& random) {
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random() % i]);
}

Shuffle::Shuffle(std::int64_t size, std::uint64_t seed) : random_(seed), order_(static_cast<std::size_t>(size)) {
  std::iota(order_.begin(), order_.end(), 0);
  reshuffle();
}

void Shuffle::reshuffle() {
  permute(order_, random_);
  at_ = 0;
}

std::vector<std::int64_t> Shuffle::next(std::int64_t batch) {
  std::vector<std::int64_t> indices;
  while (static_cast<std::int64_t>(indices.size()) < batch) {
    if (at_ == order_.size()) reshuffle();
    indices.push_back(order_[at_++]);
  }
  return indices;
}

}  // namespace ablate
