// Training's save and load.
#include <ATen/Context.h>
#include <ATen/core/Generator.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/GradMode.h>

#include "core/trial/training/training.h"

namespace ablate {
namespace {

using nlohmann::json;

json to_json(const std::vector<Scored>& metrics) {
  auto all = json::array();
  for (const auto& [info, value] : metrics) all.push_back({info, value});
  return all;
}

std::vector<Scored> scored_from(const json& saved) {
  std::vector<Scored> all;
  for (const auto& one : saved) all.push_back({one[0], one[1]});
  return all;
}

}  // namespace

at::Tensor Snapshot::Copy::view() const { return at::from_blob(bytes.get(), sizes, at::TensorOptions().dtype(type)); }

void Snapshot::keep(const std::vector<at::Tensor>& tensors) {
  const c10::NoGradGuard no_grad;
  copies_.clear();
  for (const auto& tensor : tensors) {
    copies_.push_back(
        {std::shared_ptr<std::byte[]>(new std::byte[tensor.nbytes()]), tensor.sizes().vec(), tensor.scalar_type()});
    copies_.back().view().copy_(tensor);
  }
}

void Snapshot::restore(const std::vector<at::Tensor>& tensors) const {
  const c10::NoGradGuard no_grad;
  TORCH_CHECK(tensors.size() == copies_.size(), "found ", tensors.size(), " tensors, expected ", copies_.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto copy = copies_[i].view();
    TORCH_CHECK(tensors[i].sizes() == copy.sizes(), "found a tensor of sizes ", tensors[i].sizes(), ", expected ",
                copy.sizes());
    tensors[i].copy_(copy);
  }
}

std::vector<at::Tensor> Snapshot::tensors() const {
  std::vector<at::Tensor> all;
  for (const auto& copy : copies_) all.push_back(copy.view().clone());
  return all;
}

std::vector<at::Tensor> Snapshot::views() const {
  std::vector<at::Tensor> all;
  for (const auto& copy : copies_) all.push_back(copy.view());
  return all;
}

std::vector<Generator> Training::generators() const {
  if (device_.is_cpu()) return {generator_};
  return {generator_, at::globalContext().defaultGenerator(at::kCPU)};
}

TrainingState Training::save() const {
  TrainingState saved{.best = best_tensors_};
  auto observers = json::object();  // first, because the next lines make tensors and so raise the peak
  for (const auto& [name, observer] : observers_) observers[name] = observer->save();
  auto tensors = model_tensors();
  for (const auto& tensor : optimizer_->state()) tensors.push_back(tensor);
  for (const auto& generator : generators()) tensors.push_back(generator.get_state());
  auto widths = json::array();
  for (const auto& layer : state_) {
    widths.push_back(layer.size());
    for (const auto& tensor : layer) tensors.push_back(tensor);
  }
  saved.training.keep(tensors);
  auto measurements = json::array();
  for (const auto& [name, value, unit] : best_.measurements) measurements.push_back({name, value, unit});
  saved.training.numbers = {{"done", done_},
                            {"order", order_->save()},
                            {"replayed", steps_replayed()},
                            {"uncompared", steps_uncompared()},
                            {"state", widths},
                            {"best_step", best_step_},
                            {"latest_dev", latest_dev_},
                            {"curve", curve_.save()},
                            {"observers", observers},
                            {"best",
                             {{"metrics", to_json(best_.metrics)},
                              {"sliced", to_json(best_.sliced)},
                              {"measurements", measurements},
                              {"loss", best_.loss}}}};
  return saved;
}

void Training::load(const TrainingState& saved) {
  const auto& numbers = saved.training.numbers;
  const auto tensors = saved.training.tensors();
  auto own = model_tensors();
  for (const auto& tensor : optimizer_->state()) own.push_back(tensor);
  const NoGradGuard no_grad;
  TORCH_CHECK(tensors.size() > own.size(), "a saved training of another model");
  for (std::size_t i = 0; i < own.size(); ++i) {
    TORCH_CHECK(own[i].sizes() == tensors[i].sizes(), "a saved training of another model");  // otherwise copy_ would broadcast
    own[i].copy_(tensors[i]);
  }
  auto next = own.size();
  for (auto& generator : generators()) generator.set_state(tensors.at(next++));
  state_.clear();
  for (const std::size_t width : numbers.at("state")) {
    auto& layer = state_.emplace_back();
    for (std::size_t i = 0; i < width; ++i) layer.push_back(tensors.at(next++).to(device_));
  }
  done_ = numbers.at("done");
  replayed_before_ = numbers.value("replayed", std::int64_t{0});
  uncompared_before_ = numbers.value("uncompared", std::int64_t{0});
  order_->load(numbers.at("order"));
  best_step_ = numbers.at("best_step");
  latest_dev_ = numbers.at("latest_dev");
  const auto& best = numbers.at("best");
  best_ = {.metrics = scored_from(best.at("metrics")), .sliced = scored_from(best.at("sliced")), .loss = best.at("loss")};
  for (const auto& one : best.at("measurements")) best_.measurements.push_back({one[0], one[1], one[2]});
  best_tensors_ = saved.best;
  curve_.load(numbers.at("curve"));
  for (const auto& [name, observer] : observers_) observer->load(numbers.at("observers").at(name));
  begun_ = false;
}

}  // namespace ablate
