#include "core/trial/training/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "ablate/task.h"
#include "ablate/word_count.h"
#include "core/trial/model/batch.h"
#include "core/trial/objectives/scores.h"
#include "core/trial/training/order.h"
#include "core/util/error.h"

namespace ablate {
namespace {

/// Sums of Task::judge over an evaluation.
class OwnMetrics {
 public:
  OwnMetrics(const Task& task, const TaskInfo& info) : task_(task), info_(info) {}

  bool none() const { return info_.metrics.empty(); }
  /// @param predicted [targets] most likely classes, in the order of Batch::targets
  void add(Split split, std::span<const std::int64_t> indices, const Batch& batch, const at::Tensor& predicted);
  /// Returns the means over all examples ("") or over a group of Scores; empty without examples. Throws if a sum overflows.
  std::vector<Scored> of(const std::string& group) const;

 private:
  struct Sum {
    std::vector<double> values;
    double examples = 0;
  };
  void add(const std::string& group, const std::vector<double>& values);

  const Task& task_;
  const TaskInfo& info_;
  std::map<std::string, Sum> sums_;
};

/// @return by example: a class for each of its targets, -1 at positions without a target
std::vector<std::vector<std::int64_t>> by_example(const Batch& batch, const at::Tensor& predicted) {
  const auto answers = predicted.to(at::kCPU, at::kLong).contiguous();
  const auto* const answer = answers.const_data_ptr<std::int64_t>();
  const auto count = static_cast<std::size_t>(answers.numel());
  std::vector<std::vector<std::int64_t>> all;
  if (!batch.asked.defined()) {
    for (std::size_t i = 0; i < count; ++i) all.push_back({answer[i]});
    return all;
  }
  const auto length = static_cast<std::size_t>(batch.fields.front().size(1));
  all.assign(static_cast<std::size_t>(batch.size), std::vector<std::int64_t>(length, -1));
  const auto asked = batch.asked.cpu();
  for (std::size_t i = 0; i < count; ++i) {
    const auto position = static_cast<std::size_t>(asked.const_data_ptr<std::int64_t>()[i]);
    all[position / length][position % length] = answer[i];
  }
  return all;
}

void OwnMetrics::add(Split split, std::span<const std::int64_t> indices, const Batch& batch, const at::Tensor& predicted) {
  const auto answers = by_example(batch, predicted);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    // NaN marks a value that the task leaves out. It is refused below.
    std::vector<double> values(info_.metrics.size(), std::numeric_limits<double>::quiet_NaN());
    task_.judge(split, indices[i], answers[i], values);
    for (std::size_t m = 0; m < values.size(); ++m)
      if (!std::isfinite(values[m]))
        throw Error(fmt::format("the task judges example {} with {} = {}", indices[i], info_.metrics[m].name, values[m]));
    add("", values);
    for (std::size_t s = 0; s < info_.slices.size(); ++s)
      add(info_.slices[s] + "=" + std::to_string(batch.slices[i][s]), values);
  }
}

void OwnMetrics::add(const std::string& group, const std::vector<double>& values) {
  auto& sum = sums_[group];
  sum.values.resize(values.size());
  for (std::size_t m = 0; m < values.size(); ++m) sum.values[m] += values[m];
  ++sum.examples;
}

std::vector<Scored> OwnMetrics::of(const std::string& group) const {
  std::vector<Scored> all;
  const auto found = sums_.find(group);
  for (std::size_t m = 0; found != sums_.end() && m < info_.metrics.size(); ++m) {
    const auto& [name, unit, direction, description] = info_.metrics[m];
    const double mean = found->second.values[m] / found->second.examples;
    if (!std::isfinite(mean))
      throw Error(fmt::format("the task judges examples{} with values of {} whose sum is {}",
                              group.empty() ? "" : " with " + group, name, mean));
    const auto kind = direction.empty() ? MetricKind::kCount : MetricKind::kScore;
    all.push_back({{name, unit, direction, description, kind, MetricOwner::kTask}, mean});
  }
  return all;
}

/// Sums over batches. Every target has the same weight, also in a short last batch.
class Sums {
 public:
  Sums(const TrialObjective& objective, const Task& task, const TaskInfo& info)
      : objective_(objective), info_(info), own_(task, info), words_(dynamic_cast<const WordCount*>(&task)) {}

  /// @param indices examples that the task may judge; empty for a stream
  void add(const ModelOutput& output, const Batch& batch, Split split, std::span<const std::int64_t> indices) {
    const auto targets = static_cast<double>(batch.targets.size(0));
    const auto answers = output.logits.answers(batch.targets, !info_.slices.empty());
    objective_.score(answers, batch, info_.slices, scores_);
    if (!own_.none() && !indices.empty()) own_.add(split, indices, batch, answers.predicted);
    for (const auto& measured : output.metrics) {
      auto& sum = measured_.try_emplace(measured.name, Measured{.unit = measured.unit}).first->second;
      sum.value += targets * measured.value;
      sum.targets += targets;
    }
  }

  /// @param positions number of positions that were read
  Evaluation result(Split split, std::int64_t positions) {
    Evaluation result;
    const auto all = scores_[""];
    const char* const name = split == Split::kDev ? "dev" : split == Split::kTest ? "test" : "train";
    if (all.targets == 0) throw Error(fmt::format("the task's {} split has no examples with a target", name));
    result.metrics = objective_.metrics(all);
    for (auto& own : own_.of("")) result.metrics.push_back(std::move(own));
    const auto words = words_ != nullptr ? words_->words(split, positions) : 0;
    if (words < 0) throw Error(fmt::format("the task counts {} words among {} positions of {}", words, positions, name));
    if (words > 0) result.metrics.push_back({objective_metric("perplexity"), std::exp(all.loss / static_cast<double>(words))});
    result.loss = all.loss / all.targets;
    // The accuracy of outputs that are not finite would be finite and wrong: the accuracy of always answering the first class.
    if (!std::isfinite(result.loss))
      throw Error(
          fmt::format("{} loss is {}: outputs of an evaluation are not finite", name, std::isnan(result.loss) ? "nan" : "inf"));
    for (const auto& [group, score] : scores_) {
      if (group.empty()) continue;
      auto metrics = objective_.metrics(score);
      for (auto& own : own_.of(group)) metrics.push_back(std::move(own));
      for (auto& scored : metrics) {
        scored.info.name += "@" + group;
        scored.info.description += ", of the examples with " + group;
        result.sliced.push_back(std::move(scored));
      }
    }
    for (const auto& [metric, sum] : measured_) result.measurements.push_back({metric, sum.value / sum.targets, sum.unit});
    return result;
  }

 private:
  struct Measured {
    double value = 0, targets = 0;
    std::string unit;
  };

  const TrialObjective& objective_;
  const TaskInfo& info_;
  Scores scores_;
  OwnMetrics own_;
  const WordCount* words_;  ///< null: the task counts no words
  std::map<std::string, Measured> measured_;
};

class Evaluator {
 public:
  Evaluator(Model& model, const TrialObjective& objective, const BatchReader& reader, const Task& task, const TaskInfo& info,
            const EvaluationPlan& plan, const Generator& generator)
      : model_(model),
        reader_(reader),
        info_(info),
        plan_(plan),
        split_size_(task.size(plan.split)),
        size_(limited(info, plan, split_size_)),
        generator_(generator),
        sums_(objective, task, info) {}

  Evaluation run() {
    if (info_.sampling == Sampling::kExamples)
      examples();
    else if (model_.stateful())
      lanes();
    else
      windows();
    return sums_.result(plan_.split, size_);
  }

 private:
  /// Returns how much of a split is read. Lanes and windows of any stride read the same positions of a stream, so that
  /// attentions with and without a state are compared on the same targets.
  static std::int64_t limited(const TaskInfo& info, const EvaluationPlan& plan, std::int64_t size) {
    const auto each = plan.batch * (info.sampling == Sampling::kStream ? info.length : 1);
    return plan.batches > 0 && plan.batches <= size / each ? plan.batches * each : size;
  }

  void examples() {
    const auto asked = sample_of(split_size_, size_);
    for (std::int64_t first = 0; first < size_; first += plan_.batch) {
      const auto indices = std::span(asked).subspan(static_cast<std::size_t>(first),
                                                    static_cast<std::size_t>(std::min(plan_.batch, size_ - first)));
      add(reader_.read(plan_.split, indices), {}, indices);
    }
  }

  void lanes() {
    const auto lanes = std::min(plan_.batch, std::max<std::int64_t>(1, size_ / info_.length));
    const auto part = (size_ + lanes - 1) / lanes, length = info_.length;
    const auto initial = model_.initial_state(lanes);
    auto state = initial;
    for (std::int64_t at = 0; at < part; at += length) {
      std::vector<std::int64_t> indices, position(static_cast<std::size_t>(lanes), at), end;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        // A lane that ended before the others reads its last position again, without targets.
        const auto left = std::min(part, size_ - lane * part) - at;
        indices.push_back(std::min(lane * part + at, size_ - 1));
        end.push_back(std::clamp<std::int64_t>(left, 0, length));
      }
      const auto batch = reader_.read(plan_.split, indices, {.position = position, .end_asked = end});
      reset_rows(state, initial, batch.starts);
      state = add(batch, state);
    }
  }

  void windows() {
    const auto stride = plan_.stride > 0 ? std::min(plan_.stride, info_.length) : info_.length;
    std::int64_t next = 0;  // first position that no window has scored
    while (next < size_) {
      std::vector<std::int64_t> indices, from, end;
      while (static_cast<std::int64_t>(indices.size()) < plan_.batch && next < size_) {
        const auto begin = std::max<std::int64_t>(0, next + stride - info_.length);
        indices.push_back(begin);
        from.push_back(next - begin);
        next = next == 0 ? std::min(info_.length, size_) : std::min(next + stride, size_);
        end.push_back(next - begin);
      }
      add(reader_.read(plan_.split, indices, {.first_asked = from, .end_asked = end}), {});
    }
  }

  ModelState add(const Batch& batch, const ModelState& state, std::span<const std::int64_t> indices = {}) {
    auto output = model_.forward(batch, state, generator_, true);
    if (batch.targets.size(0) > 0) sums_.add(output, batch, plan_.split, indices);
    if (plan_.goes_on) plan_.goes_on();
    return std::move(output.state);
  }

  Model& model_;
  const BatchReader& reader_;
  const TaskInfo& info_;
  const EvaluationPlan& plan_;
  std::int64_t split_size_;
  std::int64_t size_;  ///< examples or positions that are read
  const Generator& generator_;
  Sums sums_;
};

}  // namespace

void reset_rows(ModelState& state, const ModelState& initial, const std::vector<std::uint8_t>& starts) {
  if (std::none_of(starts.begin(), starts.end(), [](auto start) { return start != 0; })) return;
  auto reset = empty({static_cast<std::int64_t>(starts.size())}, kBool);
  for (std::size_t i = 0; i < starts.size(); ++i) reset.mutable_data_ptr<bool>()[i] = starts[i] != 0;
  for (std::size_t layer = 0; layer < state.size(); ++layer)
    for (std::size_t i = 0; i < state[layer].size(); ++i) {
      auto& tensor = state[layer][i];
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(tensor.dim()), 1);
      sizes[0] = tensor.size(0);
      tensor = initial[layer][i].where(reset.to(tensor.device()).view(sizes), tensor);
    }
}

Evaluation evaluate(Model& model, const TrialObjective& objective, const BatchReader& reader, const Task& task,
                    const TaskInfo& info, const EvaluationPlan& plan, const Generator& generator) {
  const NoGradGuard no_grad;
  model.eval();
  auto result = Evaluator(model, objective, reader, task, info, plan, generator).run();
  model.train();
  return result;
}

}  // namespace ablate
