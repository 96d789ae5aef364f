#include "core/trial/training/step_graphs.h"

#include <ATen/core/Generator.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/util/error.h"

namespace ablate {
namespace {

/// Returns the tensors of a batch. They may be undefined.
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

/// Returns the number of replays until the next comparison. Draws it from the number of this replay, so that a repeated
/// training compares the same steps.
std::int64_t gap_after(std::int64_t replay) {
  auto bits = static_cast<std::uint64_t>(replay) * 0x9e3779b97f4a7c15;  // splitmix64
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  bits ^= bits >> 31;
  return 1 + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(std::min(replay, StepGraphs::kMostGap)));
}

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

std::optional<double> StepGraphs::step(const std::vector<Batch>& batches, bool is_last) {
  const auto loss = one_step(batches);
  if (is_last) compare_last();
  return loss;
}

std::int64_t StepGraphs::uncompared() const {
  auto count = uncompared_;
  for (const auto& [name, shape] : shapes_) count += shape.replays - shape.compared;
  return count;
}

std::optional<double> StepGraphs::one_step(const std::vector<Batch>& batches) {
  // A batch without targets trains nothing. Steps with such a batch are rare and stay plain.
  const bool all_learn = std::ranges::all_of(batches, [](const Batch& batch) { return batch.targets.size(0) > 0; });
  if (!why_.empty() || !all_learn) return plain(batches);
  std::string name;
  for (const auto& batch : batches) name += StaticBatch::shape_of(batch) + ";";
  auto found = shapes_.find(name);
  // A recording reads the tensors' old addresses. If a tensor was replaced since (a buffer), the shape is recorded anew.
  if (found != shapes_.end() && found->second.addresses != addresses()) {
    uncompared_ += found->second.replays - found->second.compared;
    shapes_.erase(found);
    occurrences_.erase(name);
    if (++moved_ == kMostMoved) give_up("tensors of the model are replaced by others again and again");
    if (!why_.empty()) return plain(batches);
    found = shapes_.end();
  }
  if (found == shapes_.end()) {
    if (shapes_.size() == kMost || !recurs(name)) return plain(batches);
    found = shapes_.emplace(name, Shape{}).first;
  }
  auto& shape = found->second;
  if (!shape.parts.empty()) ++replayed_;  // otherwise the shape is recorded now
  if (++shape.replays == shape.next) return compared(shape, batches, copy());
  uses_uncompared_ = true;
  return replay(shape, batches);
}

bool StepGraphs::recurs(const std::string& shape) {
  if (!occurrences_.contains(shape) && occurrences_.size() == kMostSeen) {
    if (shapes_.empty()) give_up(fmt::format("none of {} batch shapes occurred {} times", kMostSeen, kPlainFirst + 1));
    return false;
  }
  return occurrences_[shape]++ == kPlainFirst;
}

std::optional<double> StepGraphs::plain(const std::vector<Batch>& batches) {
  return work_.run(
      batches, [](std::size_t, const auto& act) { act(); }, nullptr);
}

std::optional<double> StepGraphs::compared(Shape& shape, const std::vector<Batch>& batches, const Copies& before) {
  const bool is_first = shape.parts.empty();
  std::optional<double> replayed;
  std::string failed;
  bool differs = false;
  try {
    replayed = is_first ? record(shape, batches) : replay(shape, batches);
  } catch (const c10::Error& error) {
    failed = error.what_without_backtrace();
  } catch (const std::exception& error) {
    failed = error.what();
  }
  const auto after = copy();
  restore(before);
  const auto loss = plain(batches);
  if (failed.empty()) {
    const auto expected = copy();
    const auto equal = [&](std::optional<double> other, const Copies& copies) {
      return other == loss && same(copies.tensors, expected.tensors) && same(copies.generators, expected.generators);
    };
    if (equal(replayed, after)) {
      shape.compared = shape.replays;
      shape.next = shape.replays + gap_after(shape.replays);
      return loss;
    }
    differs = true;
    failed = fmt::format("replay {} of a recorded step gives other numbers than the plain step", shape.replays);
    restore(before);
    const auto again = plain(batches);
    if (const auto twice = copy(); !equal(again, twice)) failed += "; the plain step also gives different numbers each time";
    restore(expected);  // the loss of this state is returned
  }
  // A failure to record is no evidence against earlier replays.
  if (uses_uncompared_ && (differs || !is_first))
    throw Error(
        fmt::format("{}, so earlier replays may have been wrong, too: a part of the model computes with numbers of the host "
                    "that change from step to step, or is not deterministic; leave train.graphs = true out",
                    failed));
  shape.compared = shape.replays;  // no result of its replays is in use
  give_up(failed);
  return loss;
}

void StepGraphs::compare_last() {
  for (auto& [name, shape] : shapes_) {
    if (shape.replays == shape.compared || shape.addresses != addresses()) continue;
    const auto stands = copy();
    compared(shape, batches_of(shape.inputs), stands);
    restore(stands);
  }
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
  return work_.run(
      batches_of(shape.inputs), [&](std::size_t part, const auto&) { shape.parts.at(part)->replay(); }, &shape.passes);
}

std::vector<const void*> StepGraphs::addresses() const {
  std::vector<const void*> all;
  for (const auto& tensor : work_.tensors()) all.push_back(tensor.const_data_ptr());
  return all;
}

StepGraphs::Copies StepGraphs::copy() const {
  const c10::NoGradGuard no_grad;
  Copies copies;
  for (const auto& tensor : work_.tensors()) copies.tensors.push_back(tensor.clone());
  for (const auto& generator : work_.generators) copies.generators.push_back(generator.get_state());
  return copies;
}

void StepGraphs::restore(const Copies& copies) {
  const c10::NoGradGuard no_grad;
  const auto tensors = work_.tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i) tensors[i].copy_(copies.tensors[i]);
  for (std::size_t i = 0; i < work_.generators.size(); ++i) work_.generators[i].set_state(copies.generators[i]);
}

void StepGraphs::give_up(const std::string& why) {
  compare_last();
  uncompared_ = uncompared();
  why_ = why;
  shapes_.clear();
  occurrences_.clear();
}

}  // namespace ablate
