#include "core/trial/training/step_graphs.h"

#include <ATen/core/Generator.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/util/error.h"

namespace ablate {
namespace {

/// The tensors of a batch, which may be undefined.
template <class OfBatch>
auto tensors_of(OfBatch& batch) {
  std::vector<decltype(&batch.mask)> all;
  for (auto& field : batch.fields) all.push_back(&field);
  for (auto* one : {&batch.mask, &batch.position, &batch.asked, &batch.targets}) all.push_back(one);
  return all;
}

std::vector<Batch> batches_of(const std::vector<StaticBatch>& inputs) {
  std::vector<Batch> all;
  for (const auto& input : inputs) all.push_back(input.batch());
  return all;
}

bool is_power_of_two(std::int64_t number) { return (number & (number - 1)) == 0; }

bool same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tensor& x, const Tensor& y) { return x.equal(y); });
}

}  // namespace

StaticBatch::StaticBatch(const Batch& first) : batch_(first) {
  for (auto* tensor : tensors_of(batch_))
    if (tensor->defined()) *tensor = tensor->clone();
}

std::string StaticBatch::shape_of(const Batch& batch) {
  auto shape = fmt::format("{}", batch.size);
  for (const auto* tensor : tensors_of(batch))
    shape += tensor->defined()
                 ? fmt::format(" {}[{}]", static_cast<int>(tensor->scalar_type()), fmt::join(tensor->sizes(), ","))
                 : " none";
  return shape;
}

void StaticBatch::fill(const Batch& next) {
  const auto from = tensors_of(next);
  const auto to = tensors_of(batch_);
  for (std::size_t i = 0; i < to.size(); ++i)
    if (to[i]->defined()) to[i]->copy_(*from[i]);
  batch_.starts = next.starts;
  batch_.slices = next.slices;
}

std::optional<double> StepGraphs::step(const std::vector<Batch>& batches) {
  // Nothing of a batch without targets is learned, and there are few of them.
  const bool all_learn = std::ranges::all_of(batches, [](const Batch& batch) { return batch.targets.size(0) > 0; });
  if (!why_.empty() || !all_learn) return plain(batches);
  std::string name;
  for (const auto& batch : batches) name += StaticBatch::shape_of(batch) + ";";
  if (!shapes_.contains(name) && shapes_.size() == kMost) return plain(batches);
  auto& shape = shapes_[name];
  // What has been replaced since (a buffer, after a step) is not what would be read: recorded anew.
  if (!shape.parts.empty() && shape.addresses != addresses()) {
    if (++moved_ == kMostMoved) {
      give_up("tensors of the model are replaced by others again and again");
      return plain(batches);
    }
    shape = Shape{};
  }
  if (shape.seen++ < kPlainFirst) return plain(batches);
  if (is_power_of_two(++shape.replays)) return compared(shape, batches);
  return replay(shape, batches);
}

std::optional<double> StepGraphs::plain(const std::vector<Batch>& batches) {
  return work_.run(
      batches, [](std::size_t, const auto& act) { act(); }, nullptr);
}

std::optional<double> StepGraphs::compared(Shape& shape, const std::vector<Batch>& batches) {
  const auto before = keep();
  // Of these no replay has stood without a comparison.
  const bool is_early = shape.replays <= 2;
  std::optional<double> replayed;
  std::string failed;
  try {
    replayed = shape.parts.empty() ? record(shape, batches) : replay(shape, batches);
  } catch (const c10::Error& error) {
    failed = error.what_without_backtrace();
  } catch (const std::exception& error) {
    failed = error.what();
  }
  const auto after = keep();
  restore(before);
  const auto loss = plain(batches);
  if (failed.empty()) {
    const auto expected = keep();
    if (replayed == loss && same(after.tensors, expected.tensors) && same(after.generators, expected.generators)) return loss;
    failed = fmt::format("replay {} of a recorded step gives other numbers than its operations one by one", shape.replays);
  }
  if (!is_early)
    throw Error(
        fmt::format("{}, so earlier ones may have been wrong, too: a part of the model computes with numbers of the host that "
                    "change from step to step; leave train.graphs = true out",
                    failed));
  give_up(failed);
  return loss;
}

std::optional<double> StepGraphs::record(Shape& shape, const std::vector<Batch>& batches) {
  shape.addresses = addresses();
  for (const auto& batch : batches) shape.inputs.emplace_back(batch);
  return work_.run(
      batches_of(shape.inputs),
      [&](std::size_t part, const auto& act) {
        TORCH_CHECK(part == shape.parts.size(), "part ", part, " of a step comes after ", shape.parts.size());
        shape.parts.push_back(recorder_->record(act));
        shape.parts.back()->replay();
      },
      &shape.passes);
}

std::optional<double> StepGraphs::replay(Shape& shape, const std::vector<Batch>& batches) {
  for (std::size_t i = 0; i < batches.size(); ++i) shape.inputs[i].fill(batches[i]);
  ++replayed_;
  return work_.run(
      batches_of(shape.inputs), [&](std::size_t part, const auto&) { shape.parts.at(part)->replay(); }, &shape.passes);
}

std::vector<const void*> StepGraphs::addresses() const {
  std::vector<const void*> all;
  for (const auto& tensor : work_.tensors()) all.push_back(tensor.const_data_ptr());
  return all;
}

StepGraphs::Kept StepGraphs::keep() const {
  const c10::NoGradGuard no_grad;
  Kept kept;
  for (const auto& tensor : work_.tensors()) kept.tensors.push_back(tensor.clone());
  for (const auto& generator : work_.generators) kept.generators.push_back(generator.get_state());
  return kept;
}

void StepGraphs::restore(const Kept& kept) {
  const c10::NoGradGuard no_grad;
  const auto tensors = work_.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(kept.tensors[i]);
  for (std::size_t i = 0; i < work_.generators.size(); ++i) work_.generators[i].set_state(kept.generators[i]);
}

void StepGraphs::give_up(const std::string& why) {
  why_ = why;
  shapes_.clear();
}

}  // namespace ablate
