#include "core/trial/training/training.h"

#include <ATen/Context.h>
#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "core/shared/objectives.h"
#include "core/trial/model/instances.h"
#include "core/trial/training/trial_model.h"
#include "core/util/error.h"

namespace ablate {
namespace {

/// Returns the length that training rows are padded to. Padding costs as much as tokens, so this is the task's train_length if
/// the task sets it. Returns the task's length if an attention or a setting needs rows as long as in other splits.
std::int64_t training_length(const TaskInfo& info, const ModelOptions& options, const PluginGroup& attentions,
                             const FindPlugin& find) {
  if (info.train_length == 0 || options.segment > 0 || !asks_of(info.objective).in_place()) return info.length;
  for (const auto& attention : attentions.all)
    if (info.train_length % promises_of(Kind::kAttention, attention, find).length_multiple != 0) return info.length;
  return info.train_length;
}

}  // namespace

MetricInfo attention_metric(const Measurement& measured) {
  return {fmt::format("attention/{}", measured.name),
          measured.unit,
          "",
          fmt::format("reported by {}; mean over targets and over the layers that report it",
                      measured.name.substr(0, measured.name.find('/'))),
          MetricKind::kCount,
          MetricOwner::kMethod};
}

Training::Training(const TrialParts& parts, c10::Device device)
    : parts_(parts),
      info_(parts.task.info()),
      device_(device),
      reader_(parts.task, info_, device),
      objective_(make_objective(info_)),
      schedule_(schedule_of(parts.trial.train.schedule)),
      precision_(precision_of(parts.trial.train.dtype, parts.trial.train.own)),
      products_(precision_.mixed) {
  const auto& [given_task, model, attentions, train, seed] = parts.trial;
  at::manual_seed(seed);
  const auto options = trial_options(info_, parts.trial);
  train_length_ = training_length(info_, options, attentions, parts.find);
  model_ = make_trial_model(options, parts.trial, *objective_, parts.find);
  move_to(*model_, device_, precision_.type);
  optimizer_ = make_optimizer({decayed(model_->parameters(), model_->embeddings(), train.decayed), precision_}, train);
  const auto size = parts.task.size(Split::kTrain);
  order_ = training_order(info_, size, train.batch, seed);
  generator_ = at::globalContext().defaultGenerator(device_);
  if (model_->stateful()) state_ = model_->initial_state(train.batch);
  observers_ = make_observers({.train = train, .device = device_, .state = state_});
  if (!train.shuffle_labels) return;
  if (info_.sampling == Sampling::kStream) throw Error("train.shuffle_labels needs a task of examples: a stream has no labels");
  shuffled_.resize(static_cast<std::size_t>(size));
  std::iota(shuffled_.begin(), shuffled_.end(), 0);
  std::mt19937_64 random(seed_of(seed, SeedStream::kLabels));
  permute(shuffled_, random);
}

Batch Training::next_batch() {
  const auto rows = order_->next();
  auto batch = reader_.read(Split::kTrain, rows.indices, {.position = rows.position, .length = train_length_});
  for (std::size_t i = 0; i < batch.starts.size(); ++i) batch.starts[i] |= rows.position[i] == 0 ? 1 : 0;
  if (shuffled_.empty()) return batch;
  std::vector<std::int64_t> others;
  for (const auto index : rows.indices) others.push_back(shuffled_[static_cast<std::size_t>(index)]);
  const auto other = reader_.read(Split::kTrain, others, {.length = train_length_});
  batch.asked = other.asked, batch.targets = other.targets;
  return batch;
}

std::vector<Scored> Training::observed() const {
  std::vector<Scored> scores;
  for (const auto& [name, observer] : observers_) observer->end(scores);
  return scores;
}

Evaluation Training::evaluate(Split split) {
  const auto& train = parts_.trial.train;
  const EvaluationPlan plan{.split = split,
                            .batch = train.batch,
                            .batches = split == Split::kDev ? train.evaluate_batches : train.test_batches,
                            .stride = train.stride,
                            .goes_on = goes_on_};
  return ablate::evaluate(*model_, *objective_, reader_, parts_.task, info_, plan, generator_);
}

void Training::evaluate_dev() {
  notify_observers([](Observer& one) { one.evaluation_begins(); });
  keep_if_best(evaluate(Split::kDev));
  notify_observers([](Observer& one) { one.evaluation_ends(); });
}

void Training::keep_if_best(Evaluation dev) {
  latest_dev_ = dev.metrics.front().value;
  const auto add = [&](Scored scored) {
    scored.info.name = "dev/" + scored.info.name;
    curve_.add(scored.info, done_, scored.value);
  };
  for (const auto& scored : dev.metrics) add(scored);
  for (const auto& scored : dev.sliced) add(scored);
  for (const auto& measured : dev.measurements) curve_.add(attention_metric(measured), done_, measured.value);
  if (best_step_ != 0) {
    const auto& now = dev.metrics.front();
    const auto before = best_.metrics.front().value;
    if (now.info.direction == "max" ? now.value <= before : now.value >= before) return;
  }
  best_ = std::move(dev);
  best_step_ = done_;
  best_tensors_.keep(model_tensors());
}

std::vector<Tensor> Training::model_tensors() const {
  std::vector<Tensor> tensors;
  for (const auto& entry : model_->parameters()) tensors.push_back(entry.tensor);
  for (const auto& entry : model_->buffers()) tensors.push_back(entry.tensor);
  return tensors;
}

}  // namespace ablate
