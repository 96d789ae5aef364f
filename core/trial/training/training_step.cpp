// Training's step, and its parts.
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "core/trial/training/training.h"
#include "core/util/error.h"

namespace ablate {

void Training::replay_steps(std::unique_ptr<WorkRecorder> recorder, const std::string& why_none) {
  optimizer_->keep_rate_on(device_);  // also in plain steps, so that all steps have the same numbers
  no_graphs_ = recorder ? optimizer_->host_numbers() : why_none;
  if (model_->stateful()) no_graphs_ = "states are carried from batch to batch, and each batch decides which states are reset";
  if (!no_graphs_.empty()) return;
  graphs_ = std::make_unique<StepGraphs>(
      std::move(recorder),
      StepWork{[this](const auto& batches, const auto& perform, LossPasses* stored) { return take(batches, perform, stored); },
               [this] {
                 auto all = model_tensors();
                 for (const auto& tensor : optimizer_->state()) all.push_back(tensor);
                 return all;
               },
               generators()});
}

const std::string& Training::why_not_replayed() const { return graphs_ ? graphs_->why() : no_graphs_; }

std::optional<double> Training::step() {
  const auto step = ++done_;
  const auto& train = parts_.trial.train;
  if (!std::exchange(begun_, true)) notify_observers([](Observer& one) { one.begin(); });
  notify_observers([](Observer& one) { one.step_begins(); });
  std::vector<Batch> batches;
  for (std::int64_t i = 0; i < train.accumulate; ++i) batches.push_back(next_batch());
  const auto rate = schedule_.rate({step, train.steps, train.warmup, train.own});
  optimizer_->set_rate(train.learning_rate * rate.factor, rate.cycle);
  const auto loss = graphs_ ? graphs_->step(batches, step == train.steps)
                            : take(
                                  batches, [](std::size_t, const auto& act) { act(); }, nullptr);
  if (loss) model_->on_step(step, generator_);
  notify_observers([&](Observer& one) { one.step_ends(step, loss, curve_); });
  return loss;
}

std::optional<double> Training::take(const std::vector<Batch>& batches, const Perform& perform, LossPasses* stored) {
  double targets = 0, mean = 0;
  for (const auto& batch : batches) targets += static_cast<double>(batch.targets.size(0));
  LossPasses own;
  auto& passes = stored != nullptr ? *stored : own;
  passes.resize(batches.size());
  std::size_t part = 0;
  bool learns = false;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    const auto share = static_cast<double>(batches[i].targets.size(0)) / targets;
    perform(part++, [&] { passes[i] = pass(batches[i]); });
    const auto value = passes[i] ? std::optional(finite_loss(*passes[i])) : std::nullopt;
    notify_observers([](Observer& one) { one.has_loss(); });
    if (!value) continue;
    mean += share * *value;
    const bool is_first = !std::exchange(learns, true);
    perform(part++, [&] {
      if (is_first) optimizer_->zero_grad();
      const bool is_whole = batches.size() == 1 && precision_.loss_scale == 1;
      (is_whole ? passes[i]->graph : passes[i]->graph * (share * precision_.loss_scale)).backward();
    });
    notify_observers([](Observer& one) { one.has_gradients(); });
    if (stored == nullptr) passes[i].reset();
  }
  if (!learns) return std::nullopt;
  perform(part, [&] {
    optimizer_->clip(parts_.trial.train.clip);
    optimizer_->step();
  });
  return mean;
}

std::optional<LossPass> Training::pass(const Batch& batch) {
  if (!state_.empty()) reset_rows(state_, model_->initial_state(batch.size), batch.starts);
  auto output = model_->forward(batch, state_, generator_, false);
  state_ = detached(output.state);
  if (batch.targets.size(0) == 0) return std::nullopt;
  const auto loss = objective_->loss(output.logits, batch);
  const auto graph = output.auxiliary_loss.defined() ? loss + output.auxiliary_loss : loss;
  return LossPass{loss.detach(), graph, std::move(output)};
}

double Training::finite_loss(const LossPass& pass) const {
  const double value = pass.value.item<double>(), whole = pass.graph.item<double>();
  if (!std::isfinite(value) || !std::isfinite(whole))
    throw Error(fmt::format("loss is {} at step {}", std::isnan(value) ? "nan" : fmt::format("{}", whole), done_));
  return value;
}

}  // namespace ablate
